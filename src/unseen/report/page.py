"""A study as one HTML file that needs nothing else: no script, no font, no picture from outside.

The text of the page is in ``page.html.jinja``, its looks are in ``page.css``. The template escapes
all text from the data; only the SVGs, which :func:`unseen.plots.to_svg` has escaped, and the style
sheet go in as they are.
"""

from __future__ import annotations

from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from unseen import _wording as words
from unseen._files import write_then_rename
from unseen._optional import needed
from unseen.plots import DARK, LIGHT
from unseen.report import pictures, sentences, tables
from unseen.study import Study

_MOST_FILES, _MOST_THUMBNAILS = 30, 80
_LONGEST_COMMAND = 1000


def render(study: Study) -> str:
    """The report of a study as HTML, a whole page under 500 KB; the same study gives the same text.

    Parts that the study lacks are left out.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> from unseen.report import render
    >>> from unseen.study import Study
    >>> estimate = Estimate(("cat", "<b>"), [0.5, 0.2], 0.3, "MPEIncomplete",
    ...                     n_labelled={"cat": 80, "<b>": 20}, n_new=400)
    >>> page = render(Study(estimate))
    >>> "<h1>About 30% of the new rows come from classes" in page, "<b>" in page
    (True, False)
    """
    jinja2 = needed("jinja2", "reports need jinja2", "plot")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    sheet, page = (
        (files("unseen.report") / name).read_text(encoding="utf-8")
        for name in ("page.css", "page.html.jinja")
    )
    style = sheet.replace("/*light*/", LIGHT.css()).replace("/*dark*/", DARK.css())
    return str(environment.from_string(page).render(style=style, **_contents(study)))


def write_report(study: Study, path: str | Path) -> Path:
    """Write the report of a study to a file such as ``report.html``, and give back its name.

    An existing file stays until the new one is whole.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from unseen.records import Estimate
    >>> from unseen.report import write_report
    >>> from unseen.study import Study
    >>> estimate = Estimate(("cat",), [0.7], 0.3, "made", n_labelled={"cat": 80}, n_new=400)
    >>> with TemporaryDirectory() as folder:
    ...     write_report(Study(estimate), f"{folder}/report.html").name
    'report.html'
    """
    path = Path(path)
    page = render(study).encode("utf-8")
    with write_then_rename(path) as draft:
        draft.write_bytes(page)
    return path


def _contents(study: Study) -> dict[str, Any]:
    """Everything that the template names; nothing for a part that the study lacks."""
    estimate, now, timeline, found = study.estimate, study.now, study.timeline, study.explanation
    explained = found if found is not None and found.groups else None
    warnings, notes = sentences.warnings_and_notes(study)
    value, methods = tables.shown_labelling(study), tables.side_by_side(study)
    drift, tolerated = estimate.drift, tables.tolerance_table(study)
    by_group = groupby(study.thumbnails[:_MOST_THUMBNAILS], key=lambda one: one.group)
    n_methods = len({estimate.method, *(study.baselines or ())})
    return {
        "data": sentences.data_name(study),
        "sentence": words.shown(study.sentence(), 2 * words.LONGEST_SENTENCE),
        "over_time": study.over_time,
        "pooled": words.shown(estimate.sentence(), 2 * words.LONGEST_SENTENCE),
        "certainty": sentences.certainty(now.estimate),
        "source": sentences.source(now),
        "to_do": sentences.to_do(now),
        "shares": tables.shares_table(now),
        "shares_picture": pictures.shares_picture(now),
        "gap": pictures.gap_picture(study),
        "slopes": pictures.slope_pictures(study),
        "groups": explained and tables.groups_table(explained),
        "groups_picture": explained and pictures.groups_picture(explained),
        "groups_sentence": explained and explained.sentence(),
        "thumbnails": [(group, list(shown)) for group, shown in by_group],
        "history": timeline and tables.history_table(timeline),
        "history_picture": timeline and pictures.history_picture(timeline),
        "reference": timeline and words.shown(timeline.reference_name),
        "worth": value and value.sentence,
        "labelling": value and tables.labelling_table(value),
        "labelling_picture": value and pictures.labelling_picture(value),
        "assumptions": sentences.assumptions(study),
        "warnings": warnings,
        "notes": notes,
        "tolerance": tolerated,
        "tolerance_picture": tolerated and drift and pictures.tolerance_picture(drift.tolerance),
        "disagreement": words.disagreement(estimate, study.baselines or {}),
        "baselines": methods and tables.baselines_table(methods, n_methods),
        "baselines_picture": methods and pictures.baselines_picture(methods),
        "suspects": study.suspects and tables.suspects_table(study.suspects, bool(explained)),
        **_again(study),
    }


def _again(study: Study) -> dict[str, Any]:
    """How to get the same answer again, cut to a size that a page can hold."""
    origin, estimate = study.origin, study.estimate
    return {
        "made": words.shown(origin.made),
        "command": words.verbatim(origin.command, _LONGEST_COMMAND).strip(),
        "preparation": sentences.at_most(origin.preparation),
        "files": [(words.shown(a, 80), words.shown(b, 64)) for a, b in origin.files[:_MOST_FILES]],
        "n_more_files": max(0, len(origin.files) - _MOST_FILES),
        "seed": estimate.seed,
        "versions": [(words.shown(a), words.shown(b)) for a, b in estimate.versions.items()],
    }
