"""Records on the terminal: a sentence, tables, and what a person should know of them."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from unseen import _wording as words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from unseen.demo import Demo
    from unseen.monitoring import Timeline
    from unseen.proportions import ProportionEstimator
    from unseen.records import Estimate, Notice
    from unseen.study import AfterResult, Checks, Classification, MethodComparison, Study

_WIDTH_OF_PIPES = 500
_LEAST_TEXT = 16
_CELL_MARGIN = 3  # a blank on each side, and a line
_STYLES = {"warning": "bold yellow", "note": "dim"}
# ", Eq. (4)" means nothing without the paper.
_OF_THE_PAPER = re.compile(r",? \(?(?:Eq|Prop)\. [^)]*\)+")


class Check(NamedTuple):
    """The head of a column, what fails where the check fires, and how to read the number."""

    head: str
    fault: str
    legend: str


_CHECKS = {
    "effective_rows": Check(
        "rows", "few rows", "the number of rows that the slope is worth; below 30 it is rough."
    ),
    "right_end_bend": Check(
        "bend",
        "bends",
        "1 where the ROC ends straight; well above 1, the true share is below the slope.",
    ),
    "misfit": Check("misfit", "misfit", "0 where the fitted curve follows the ROC."),
    "class_drift": Check(
        "drift",
        "moved",
        "the largest move of a column, in standard deviations; 0 if the class looks as it did.",
    ),
    "hidden_share": Check(
        "hidden", "hidden", "how much of the other known classes looks like this one; 0 at best."
    ),
}
_UNCHECKED = {f"{name}_unchecked": check.fault for name, check in _CHECKS.items()}


def console() -> Console:
    """The console for results; it knows whether it is a terminal, and NO_COLOR."""
    from rich.console import Console

    if Console().is_terminal:
        return Console(highlight=False)
    # Nobody looks at a pipe: its reader wants every cell, and a sentence on one line.
    width = None if "COLUMNS" in os.environ else _WIDTH_OF_PIPES
    return Console(highlight=False, soft_wrap=True, width=width)


def plain(text: object) -> str:
    """Text from the user or the data, which may hold rich's markup or a terminal's commands."""
    from rich.markup import escape

    return escape(words.verbatim(text))


def print_table(
    screen: Console,
    heads: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    n_texts: int = 0,
    styles: Mapping[int, str] | None = None,
    line_below: int | None = None,
) -> None:
    """Print a table: names on the left, numbers on the right, then ``n_texts`` columns of text.

    Columns for which a narrow screen has no room follow in tables below; no value is cut.
    ``styles`` are those of rows by their number; a line can stand below one row.
    """
    from rich.table import Table
    from rich.text import Text

    columns = [[plain(cell) for cell in column] for column in zip(heads, *rows, strict=True)]
    first_text = len(columns) - n_texts

    def part(places: Iterable[int], widths: Mapping[int, int]) -> Table:
        table = Table()
        for place in places:
            look: dict[str, Any] = {"no_wrap": True} if place == 0 else {"justify": "right"}
            look = {"min_width": _LEAST_TEXT} if place >= first_text else look
            table.add_column(columns[place][0], width=widths.get(place), **look)
        for number, cells in enumerate(zip(*(columns[p][1:] for p in places), strict=True)):
            style = (styles or {}).get(number)
            table.add_row(*cells, style=style, end_section=number == line_below)
        return table

    whole = part(range(len(columns)), {})
    unbounded = screen.options.update(width=_WIDTH_OF_PIPES)
    if screen.measure(whole, options=unbounded).maximum <= screen.width:
        screen.print(whole, soft_wrap=False)
        return
    # As wide as the longest value or the longest word of the head; text may wrap.
    widths = {
        place: max(Text.from_markup(cell).cell_len for cell in [*head.split(), *cells])
        for place, (head, *cells) in enumerate(columns[:first_text])
    }
    needed = [widths.get(place, _LEAST_TEXT) + _CELL_MARGIN for place in range(len(columns))]
    parts, room = [[0]], screen.width - 1 - needed[0]
    for place in range(1, len(columns)):
        if len(parts[-1]) > 1 and sum(needed[one] for one in [*parts[-1][1:], place]) > room:
            parts.append([0])
        parts[-1].append(place)
    for places in parts:
        screen.print(part(places, widths), soft_wrap=False)


def print_notices(notices: Iterable[Notice], screen: Console) -> None:
    """Print each notice once, warnings first."""
    lines = dict.fromkeys((notice.severity, notice.text) for notice in notices)
    for severity, style in _STYLES.items():
        for _, text in (line for line in lines if line[0] == severity):
            screen.print(f"[{style}]{severity}:[/{style}] {plain(text)}")


def unseen_style(estimate: Estimate) -> str:
    """The style of the unseen share: red where something is unseen, yellow where that is open."""
    if estimate.may_be_moved:
        return "bold yellow"
    return "bold red" if estimate.unseen >= words.NO_SHARE else "bold"


def show_study(study: Study) -> None:
    """The answer in a sentence, the shares then and now, groups, windows, and the notices."""
    from unseen.report.sentences import to_do

    screen, now, explanation = console(), study.now, study.explanation
    screen.print(f"[bold]{plain(study.sentence())}[/bold]\n")
    if study.timeline is not None and study.over_time:
        _show_windows(study.timeline, screen)
        screen.print("\nThe latest window:")
    _show_shares(now, screen)
    if study.over_time and study.estimate.sees_unseen:
        unsure = " whether anything is" if study.estimate.has_moved_far else ""
        unseen = words.unseen_share(study.estimate)
        screen.print(f"All windows together: {unseen}{unsure} unseen.")
    if explanation is not None:
        screen.print(f"\n{plain(explanation.sentence())}")
        if explanation.groups:
            heads, *rows = explanation.table()
            print_table(screen, heads, rows, n_texts=len(heads) - 4)
    if study.timeline is not None and not study.over_time:
        screen.print()
        _show_windows(study.timeline, screen)
    print_notices(study.all_notices, screen)
    if explanation is None and (now.estimate.unseen >= words.NO_SHARE or now.estimate.is_in_doubt):
        first = to_do(now)[0]
        screen.print(f"Next: {plain(first[0].lower() + first[1:])}")


def _show_shares(study: Study, screen: Console) -> None:
    """One row per class, unseen last: share in training, share now, interval; then the method."""
    estimate, training = study.estimate, study.training_shares
    ends = [""] * (len(estimate.classes) + 1)
    if estimate.intervals is not None:
        ends = [words.interval(*limits) for limits in estimate.intervals]
    rows = [
        [label, words.share(training[label]), words.share(share), interval]
        for label, share, interval in zip(
            estimate.classes, estimate.proportions, ends, strict=False
        )
    ]
    rows.append(["unseen", "", words.unseen_share(estimate), words.unseen_interval(estimate)])
    heads = ["class", "in training", "now", words.interval_name(estimate.confidence)]
    print_table(screen, heads, rows, styles={len(rows) - 1: unseen_style(estimate)})
    part = f"{estimate.n_new:,} of " if estimate.n_new < study.n_new_rows else ""
    screen.print(f"{estimate.method}, {part}{words.count(study.n_new_rows, 'new row')}.")
    probability = estimate.diagnostics.get("probability_unseen")
    if probability is not None and not estimate.may_be_moved:
        screen.print(f"Probability that anything is unseen: {words.chance(probability)}.")


def _show_windows(timeline: Timeline, screen: Console) -> None:
    """One row per window: the unseen share, the verdict on change, the share that moved most."""
    from unseen.monitoring.timeline import shown_key

    first, rows, styles = timeline.estimates[0], [], {}
    in_doubt = any(estimate.is_in_doubt for estimate in timeline.estimates)
    names = [*map(str, timeline.classes), "unseen"]
    for place, estimate in enumerate(timeline.estimates):
        cells = [shown_key(timeline.windows[place]), f"{estimate.n_new:,}"]
        cells.append(words.unseen_share(estimate))
        if estimate.intervals is not None:
            cells.append(words.unseen_interval(estimate))
        largest, moves = "", timeline.differences[place]
        if not timeline.in_reference[place] and not estimate.has_moved_far:
            most = int(abs(moves).argmax())
            largest = f"{names[most]}: {100 * moves[most]:+.1f}"
        cells += [*timeline.verdict(place), largest]
        cells += [estimate.drift.verdict if estimate.drift else ""] * in_doubt
        rows.append(cells)
        if timeline.changed[place] or timeline.changed_unseen[place]:
            styles[place] = unseen_style(estimate)
    ends = [words.interval_name(first.confidence)] * (first.intervals is not None)
    heads = ["window", "rows", "unseen", *ends, "verdict", "p", "largest change"]
    print_table(screen, [*heads, *["known classes"] * in_doubt], rows, styles=styles)
    screen.print(
        f"A window has changed since {plain(timeline.reference_name)} where p is at most "
        f"{timeline.alpha:g}; p is adjusted for the number of windows."
    )
    if timeline.skipped:
        windows = words.count(len(timeline.skipped), "window")
        n_rows = words.count(sum(number for _, number in timeline.skipped))
        screen.print(f"Left out, with too few rows for an estimate: {windows} ({n_rows}).")


def show_labels(found: Classification) -> None:
    """Rows of each label, the cut of the rule, and how often it should be wrong."""
    import numpy as np

    screen, total, drift = console(), sum(found.rows.values()), found.drift
    if drift is not None and drift.verdict != "still":
        said = drift.sentence(np.array(found.unseen_interval))
        screen.print(f"[bold]{plain(said)}[/bold]\n")
    rows = [[label, f"{rows:,}", f"{rows / total:.1%}"] for label, rows in found.rows.items()]
    print_table(screen, ["label", "rows", "share"], rows)
    if not found.fitted_on_these_rows:
        screen.print("For the rows that the rule was fitted to:")
    low, high = found.unseen_interval
    cut = found.novelty_cut
    called = f"rows with a novelty of {cut:.2f} or more" if cut <= 1 else "no row"
    share = f"{found.unseen:.1%} ({low:.1%} to {high:.1%})"
    if drift is not None and drift.far:
        share = words.CANNOT_TELL
    screen.print(f"Estimated unseen share: {share}. Called unseen: {called}.")
    if len(found.rows) > 2:
        screen.print(
            "A rule starts from even odds that anything is unseen. `unseen estimate` starts from "
            "low odds, so its share can be smaller."
        )
    if found.error_rate is None or found.error_rate_spread is None:
        why = {
            "moved": "the known classes have moved",
            "unclear": "it is unclear whether known classes have moved",
        }.get(drift.verdict if drift else "", "the unseen share is hardly known")
        screen.print(f"Estimated error rate: not stated, as {why}.")
    else:
        out_of_range = any(one.code == "column_out_of_range" for one in found.notices)
        screen.print(
            f"Estimated error rate{', if no known class has moved' * out_of_range}: "
            f"{max(found.error_rate, 0.0):.3f}, standard error {found.error_rate_spread:.3f}."
        )
    print_notices(found.notices, screen)


def show_audit(result: AfterResult) -> None:
    """Shares as estimated and by labels, the agreement of people, and what more labels would do."""
    screen, found = console(), result.record
    corrected = found.corrected
    screen.print(f"[bold]{plain(found.sentence())}[/bold]\n")
    assert found.compared is not None
    assert corrected.intervals is not None
    before = [*found.compared.proportions, found.compared.unseen]
    now = [*corrected.proportions, corrected.unseen]
    rows = [
        [name, words.share(then), words.share(share), words.interval(*ends)]
        for name, then, share, ends in zip(
            [*corrected.classes, "unseen"], before, now, corrected.intervals, strict=True
        )
    ]
    rows += [
        [f"  {words.verbatim(name)}", "", words.share(share), words.interval(*limits)]
        for name, (share, *limits) in found.named.items()
    ]
    heads = ["class", "estimated", "by labels", words.interval_name(corrected.confidence)]
    print_table(screen, heads, rows)
    for called, (n_rows, right) in (("unseen", found.called_unseen), ("known", found.called_known)):
        if n_rows:
            screen.print(f"People agree with {right} of {words.count(n_rows)} called {called}.")
    screen.print(found.worth_of_more())
    print_notices((*found.notices, *result.notices), screen)


def show_promotion(result: AfterResult) -> None:
    """Promoted rows of each class, by their source."""
    screen, found = console(), result.record
    rows = []
    for name in found.counts:
        sources = found.sources[found.labels == name]
        rows.append([name, *((sources == one).sum() for one in ("labelled", "spread"))])
    print_table(screen, ["class", "labelled by people", "by group"], rows)
    screen.print(f"{len(found.rows)} of {found.n_new:,} new rows are now labelled rows.")
    print_notices((*found.notices, *result.notices), screen)


def show_comparison(found: MethodComparison) -> None:
    """One row per estimator, one column per class; those that see the unseen come first."""
    from unseen.proportions import OpenSetEstimator

    screen, rows = console(), []
    ordered = sorted(
        found.estimates.items(),
        key=lambda one: (not one[1].sees_unseen, one[0] != OpenSetEstimator.__name__),
    )
    for name, one in ordered:
        cells = ["yes" if one.sees_unseen else "no", words.unseen_share(one)]
        rows.append([name, *cells, *(f"{share:.1%}" for share in one.proportions)])
    n_open = sum(estimate.sees_unseen for _, estimate in ordered)
    heads = ["method", "sees unseen", "unseen", *found.estimates.classes]
    styles = dict.fromkeys(range(n_open), "bold")
    print_table(screen, heads, rows, styles=styles, line_below=n_open - 1)
    if n_open < len(ordered):
        screen.print(
            "Methods below the line count unseen rows as known ones: compare these methods with "
            "each other, not with those above."
        )
    print_notices(found.notices, screen)


def show_checks(checks: Checks) -> None:
    """The verdict of each class, the number of each check, and the certified share."""
    found, screen = checks.estimate, console()
    made = {name: check for name, check in _CHECKS.items() if name in found.diagnostics}
    _show_verdicts(found, made, screen)
    screen.print(
        "Verdict: ok, or the checks that fail beyond chance; ? where too few new rows look like "
        "the class to check it."
    )
    screen.print("Slope: the share of this class by its own ROC; slopes should sum to at most 1.")
    for check in made.values():
        screen.print(f"{check.head.capitalize()}: {check.legend}")
    screen.print(f"\nSum of the slopes: {found.diagnostics['slope_total']:.3f}.")
    if share := found.unseen_certified or 0.0:
        screen.print(
            f"Certified: at least {share:.1%} of the new rows are unseen, whatever the classes "
            "look like, if no known class has changed (wrong with probability "
            f"{checks.delta:g} at most)."
        )
    else:
        screen.print(
            "No part of the new rows is certified to be unseen: the bound holds for any classes, "
            "and so asks for more rows than an estimate does."
        )
    if found.may_be_moved:
        screen.print(f"[bold]{plain(found.sentence())}[/bold]")
    if not found.notices:
        screen.print("All checks passed.")
    # The table has the others, class by class.
    told = [one for one in found.notices if one.code not in _UNCHECKED]
    print_notices((*told, *checks.notices), screen)


def _show_verdicts(found: Estimate, made: Mapping[str, Check], screen: Console) -> None:
    """One row per class: its verdict, its slope, and the number of each check."""
    rows: list[list[object]] = []
    styles: dict[int, str] = {}
    for place, label in enumerate(found.classes):
        codes = {one.code for one in found.notices if one.about == label}
        faults = [check.fault for name, check in made.items() if name in codes]
        faults += [f"{_UNCHECKED[code]}?" for code in codes if code in _UNCHECKED]
        cells = [label, ", ".join(faults) or "ok", f"{found.roc[label].right_slope:.3f}"]
        for name in made:
            value = found.diagnostics[name].get(label)
            value = value[0] if isinstance(value, list | tuple) else value  # then come its limits
            number = "-" if value is None else f"{value:.0f}" if value > 10 else f"{value:.2f}"
            cells.append(number)
        rows.append(cells)
        if faults:
            styles[place] = "yellow"
    heads = ["class", "verdict", "slope", *(check.head for check in made.values())]
    print_table(screen, heads, rows, styles=styles)


def show_methods(named: Mapping[str, ProportionEstimator]) -> None:
    """Estimators by name, and the first sentence of what each is."""
    rows = []
    for name, one in named.items():
        first = _OF_THE_PAPER.sub("", (inspect.getdoc(one) or "").split("\n\n")[0])
        rows.append([name, "yes" if one.sees_unseen else "no", " ".join(first.split())])
    print_table(console(), ["method", "sees unseen", "what it does"], rows, n_texts=1)


def show_demo(record: Demo) -> None:
    """The answer beside the truth, and beside a closed-set method."""
    screen, estimate = console(), record.estimate
    lies = "inside" if record.holds else "outside"
    truth = f"The truth, {words.short_share(record.truth[-1])}, lies {lies} the 95% interval."
    screen.print(f"[bold]{estimate.sentence()}[/bold]\n{truth}\n")
    assert estimate.intervals is not None
    labels = [*estimate.classes, "unseen"]
    numbers = zip(labels, record.estimated, record.truth, record.closed_set, strict=True)
    rows = [
        [label, words.share(ours), words.interval(*ends), words.share(true), words.share(closed)]
        for (label, ours, true, closed), ends in zip(numbers, estimate.intervals, strict=True)
    ]
    ours, closed = map(words.share, record.errors)
    rows.append(["total error", ours, "", "", closed])
    unseen = len(rows) - 2
    heads = ["digit", "estimated share", "95% interval", "true share", "closed-set method"]
    print_table(screen, heads, rows, styles={unseen: unseen_style(estimate)}, line_below=unseen)
    screen.print(
        f"{estimate.method} on {sum(estimate.n_labelled.values())} labelled rows (digits 0 to 6) "
        f"and {estimate.n_new} new rows.\n"
        "Closed-set method: classify and count with kernel logistic regression.\n"
        "Total error: total variation, the share of rows that would have to move.\n"
        f"Took {record.seconds:.1f} s."
    )
    print_notices(estimate.notices, screen)
