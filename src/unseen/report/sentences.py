"""The sentences of the page: how sure the answer is, what it assumes, and the notices."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from unseen import _wording as words
from unseen.monitoring.timeline import shown_key
from unseen.records import Estimate
from unseen.study import Study

MOST_MESSAGES = 15
_MOST_COLUMNS = 3
_LONGEST_FILE = 40
_ROUGH_ROWS = 100
_LEAST_DOUBT = 1e-12
_OVERWHELMING = 1_000_000
# Part of the rows unlike training, and deviations that a column moved.
_MAIN_CAUSE, _FAR = 0.5, 1.0


# Each assumption in one sentence, and what follows if it fails.
_OPEN = {
    "Known classes look the same in both tables.": (
        "Only how often each occurs may differ. If the camera, the form or the units have changed "
        "since training, everything looks new, and the unseen share is far too large."
    ),
    "No known class hides inside the others (condition (A)).": (
        "If part of a known class could be made by mixing other classes, seen or not, its share is "
        "an upper bound and the unseen share a lower one."
    ),
    "The columns can tell unseen rows from known ones, at least a little.": (
        "A new class that looks exactly like a known one is counted as that class; no method can "
        "see it in these columns."
    ),
}
_MOVED = {
    "Known classes look nearly the same in both tables.": (
        "Here they do not, or may not. The default allows for known classes that moved a little; "
        "where they moved far, the shares are a guess. First see whether a sensor, a unit, the "
        "preprocessing or the population has changed."
    ),
}
_CLOSED = {
    "Nothing is unseen.": (
        "This method has no other answer: it counts rows of a new class as the classes that they "
        "resemble, whose shares are then too large."
    ),
    "Known classes look the same in both tables.": (
        "Only how often each occurs may differ: not the camera, the form or the units."
    ),
    "No known class is a mixture of the others.": (
        "If one were, different shares would fit the new rows equally well."
    ),
}


def certainty(estimate: Estimate) -> list[str]:
    """How sure the answer is: a probability, a certified bound, the level of the intervals."""
    sentences = _probability(estimate)
    if estimate.unseen_certified is not None and estimate.unseen_certified > 0:
        sentences.append(
            f"At least {words.share(estimate.unseen_certified)} are unseen by a bound that assumes "
            "nothing about the classes but that the known ones did not change."
        )
    if estimate.intervals is None:
        sentences.append("No intervals were asked for: how far shares may be off is not known.")
    elif estimate.has_moved_far:
        sentences.append("Intervals from 0% to 100% say that nothing is known of a share.")
    elif estimate.confidence is not None:
        level = f"{100 * estimate.confidence:g} times in 100"
        only = "" if estimate.sees_unseen else ", if nothing is unseen"
        if estimate.may_be_moved and not estimate.is_in_doubt:
            only = ", if no column changed"
        sentences.append(f"Intervals should hold the true share {level}{only}.")
    # Where nothing is new, the title says it; the share takes the known classes for unmoved.
    limit = estimate.detection_limit
    if limit is not None and estimate.unseen >= words.NO_SHARE and not estimate.may_be_moved:
        sentences.append(
            "A new class as different as yours are from each other would show from a share of "
            f"{words.short_share(limit)} on."
        )
    return sentences


def _probability(estimate: Estimate) -> list[str]:
    """The probability that anything is unseen, always beside the probability before the data.

    With one known class the probability before the data is so high by default that the
    probability after the data says little about them.
    """
    probability = estimate.diagnostics.get("probability_unseen")
    factor = estimate.diagnostics.get("bayes_factor")
    if probability is None or factor is None or len(estimate.classes) == 1 or estimate.may_be_moved:
        return []
    if _LEAST_DOUBT < probability < 1 - _LEAST_DOUBT and 0 < factor < float("inf"):
        # Bayes' rule backwards: the odds before the data are the odds after over the factor.
        odds = probability / (1 - probability) / factor
        before = estimate.diagnostics.get("prior_unseen", odds / (1 + odds))
        return [
            f"That anything is unseen is {words.likelihood(probability)}: its probability was "
            f"{100 * before:.3g}% before the data, now {words.chance(probability)}."
        ]
    if factor > _OVERWHELMING:
        return [
            "That anything is unseen is almost certain, whatever one believed before: the data "
            f"favour unseen classes by more than {_OVERWHELMING:,} to 1."
        ]
    return []


def data_name(study: Study) -> str:
    """The tables that were compared, as "new.csv beside train.csv"; nothing without a file."""
    names = [words.shown(PurePath(name).name, _LONGEST_FILE) for name, _ in study.origin.files[:2]]
    return f"{names[1]} beside {names[0]}" if len(names) == 2 else "".join(names)


def source(study: Study) -> str:
    """Method and rows in one sentence."""
    estimate = study.estimate
    n_labelled = sum(estimate.n_labelled.values()), sum(study.training_rows.values())
    samples = {"new row": (estimate.n_new, study.n_new_rows), "labelled row": n_labelled}
    new, labelled = (
        ("" if used == total else f"{used:,} of ") + words.count(total, noun)
        for noun, (used, total) in samples.items()
    )
    classes = words.count(len(estimate.classes), "known class")
    return f"{words.shown(estimate.method)}, from {new} and {labelled} of {classes}."


_COUNT_LABELS = (
    "Let people label some rows (`unseen explain --sheet`) and count by their labels "
    "(`unseen audit`), which is right whatever moved."
)


def to_do(study: Study) -> list[str]:
    """What a person should do now, by the verdict on drift and by what was found."""
    estimate = study.estimate
    if not estimate.sees_unseen:
        return ["Ask a method that sees unseen classes, unless you know that there are none."]
    if estimate.is_in_doubt:
        return [
            _to_rule_out(study),
            "Compare with rows of the same place that hold nothing new (`--control`), or hold out "
            "persons, sites or batches (`--group`).",
            _COUNT_LABELS,
        ]
    if estimate.unseen < words.NO_SHARE:
        return [
            "Use the shares: nothing points clearly to a new class.",
            "If an interval is too wide for your decision, bring more rows, or let people label "
            "some of the new ones: `unseen audit`.",
        ]
    if estimate.may_be_moved:
        return [
            _to_rule_out(study),
            "Leave out columns that changed (`--drop`), and see whether the answer stays.",
            _COUNT_LABELS,
        ]
    look = "Look at the groups of unseen rows below, and at what sets each apart."
    if study.explanation is None:
        look = (
            "Look at the rows that fit no known class: `unseen explain` says what they have in "
            "common."
        )
    return [
        look,
        "Make sure that both tables were made alike: same units, same preprocessing, and nothing "
        "fitted to the labelled rows alone.",
        "Let people label some rows (`unseen explain --sheet`), check the share by their labels "
        "(`unseen audit`), and make a class of what they find (`unseen promote`).",
    ]


def _to_rule_out(study: Study) -> str:
    """Where to look for a cause other than new classes, by the sign of drift that was found."""
    drift = study.estimate.drift
    columns = [] if drift is None else [name for name, _ in drift.columns]
    if drift is not None and drift.stray >= words.NO_SHARE:
        farthest = next(iter(drift.columns), ("", 0.0))
        # A few odd values are not why most rows look unlike training, where another column moved.
        if (
            drift.stray >= _MAIN_CAUSE * drift.unlike
            or farthest[0] in drift.stray_columns
            or abs(farthest[1]) < _FAR
        ):
            return (
                f"Look at the odd values in {_listed(drift.stray_columns)}: declare a code for "
                "missing values (`--missing`), mend a unit, or leave the column out (`--drop`)."
            )
    if drift is not None and drift.part >= words.NO_SHARE:
        if study.timeline is not None:
            return "See which windows moved: each may come from another instrument, site or unit."
        return (
            "Find the column that names the instrument, site or batch of each row, and ask about "
            "each of its values: `--by COLUMN`."
        )
    if drift is not None and drift.moved_class is not None:
        name = words.shown(drift.moved_class)
        return f"Look at some of the rows that look most like class {name}: are they of the class?"
    first = f", first in {_listed(columns)}" if columns else ""
    return f"See whether a sensor, a unit, the preprocessing or the population changed{first}."


def _listed(columns: Iterable[object]) -> str:
    return words.listed([words.shown(name, 24) for name in columns], _MOST_COLUMNS)


def assumptions(study: Study) -> dict[str, str]:
    """Everything that the numbers take for granted, in plain words, and what follows without it."""
    estimate = study.estimate
    smallest = min(estimate.classes, key=lambda label: estimate.n_labelled[label])
    fewest, is_only = estimate.n_labelled[smallest], len(estimate.classes) == 1
    if fewest < _ROUGH_ROWS:
        verdict = f"so {'the estimate' if is_only else 'its share'} is rough at best"
    else:
        verdict = "and that is all" if is_only else "and every other class at least as many"
    others = _OPEN if estimate.sees_unseen else _CLOSED
    if estimate.is_in_doubt:
        others = _MOVED | dict(list(others.items())[1:])
    return others | {
        "Rows are drawn one by one, and there are enough of them.": (
            f"The smallest class, {words.shown(smallest)}, has "
            f"{words.count(fewest, 'labelled row')}, {verdict}. Copies of rows and rows that come "
            "in clusters make intervals too short."
        )
    }


def warnings_and_notes(study: Study) -> tuple[list[str], list[str]]:
    """Texts of the notices: warnings bear on the numbers, notes say what was done; each once."""
    notices = study.all_notices
    severe = dict.fromkeys(one.text for one in notices if one.severity == "warning")
    notes = [one.text for one in notices if one.severity == "note" and one.text not in severe]
    timeline = study.timeline
    if timeline is not None and timeline.skipped:
        keys = [f"{words.shown(shown_key(key), 24)} ({rows})" for key, rows in timeline.skipped]
        notes.append(f"Windows with too few rows for an estimate: {words.listed(keys)}.")
    if timeline is not None and timeline.n_missing:
        rows = words.count(timeline.n_missing, "new row")
        notes.append(f"Without a date or key, and so in no window: {rows}.")
    return at_most(severe), at_most(notes)


def at_most(messages: Iterable[str]) -> list[str]:
    """Each message once, on one line; messages that the page cannot hold are counted."""
    sentences = list(dict.fromkeys(words.shown(one, words.LONGEST_SENTENCE) for one in messages))
    kept = sentences[:MOST_MESSAGES]
    if len(sentences) > len(kept):
        kept.append(f"{len(sentences) - len(kept)} more are left out here.")
    return kept
