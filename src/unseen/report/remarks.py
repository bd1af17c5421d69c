"""What the page says in sentences: how sure, what is taken for granted, and what to beware of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from unseen.monitoring import Timeline
from unseen.monitoring.windows import shown_key
from unseen.records import Estimate
from unseen.report import words
from unseen.report.tables import is_blind
from unseen.study import Study

__all__ = ["Remark", "assumptions", "at_most", "cautions", "certainty", "source"]

MOST_MESSAGES = 15
_ROUGH_ROWS = 100
_LEAST_DOUBT = 1e-12
_OVERWHELMING = 1_000_000


@dataclass(frozen=True)
class Remark:
    """A sentence in bold, and what it means."""

    head: str
    body: str


_OPEN = (
    Remark(
        "Known classes look the same in both tables.",
        "Only how often each occurs may differ. If the camera, the form or the units have changed "
        "since training, everything looks new, and the unseen share is far too large.",
    ),
    Remark(
        "No known class hides inside the others (condition (A)).",
        "If part of a known class could be made by mixing other classes, seen or not, its share is "
        "an upper bound and the unseen share a lower one.",
    ),
    Remark(
        "The columns can tell unseen rows from known ones, at least a little.",
        "A new class that looks exactly like a known one is counted as that class; no method can "
        "see it in these columns.",
    ),
)
_CLOSED = (
    Remark(
        "Nothing is unseen.",
        "This method has no other answer: it counts rows of a new class as the classes that they "
        "resemble, whose shares are then too large.",
    ),
    Remark(
        "Known classes look the same in both tables.",
        "Only how often each occurs may differ: not the camera, the form or the units.",
    ),
    Remark(
        "No known class is a mixture of the others.",
        "If one were, different shares would fit the new rows equally well.",
    ),
)


def certainty(estimate: Estimate) -> list[str]:
    """How sure: the probability that anything is unseen, the intervals, a certified bound.

    Parameters
    ----------
    estimate : Estimate

    Returns
    -------
    list of str
        One sentence each; the first states the probability where the method gives one.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> from unseen.report.remarks import certainty
    >>> rows = {"n_labelled": {"cat": 9, "dog": 9}, "n_new": 9}
    >>> certainty(Estimate(("cat", "dog"), [0.5, 0.2], 0.3, "made", **rows,
    ...                    diagnostics={"probability_unseen": 0.95, "bayes_factor": 361}))[0]
    'That anything is unseen is very likely: we started from 5%, and the data made it about 95%.'
    """
    sentences = _probability(estimate)
    if estimate.unseen_certified is not None and estimate.unseen_certified > 0:
        sentences.append(
            f"At least {words.share(estimate.unseen_certified)} are unseen by a bound that takes "
            "nothing for granted about the classes."
        )
    if estimate.intervals is None:
        sentences.append("No intervals were asked for, so how far it may be off is not known.")
    elif estimate.confidence is not None:
        level = f"{100 * estimate.confidence:g} times in 100"
        only = ", if nothing is unseen" if is_blind(estimate) else ""
        sentences.append(f"Intervals are made to hold the truth {level}{only}.")
    return sentences


def _probability(estimate: Estimate) -> list[str]:
    """That anything is unseen: never without the probability before the data.

    With one known class that is so high by default that the one after says little about the data.
    """
    probability = estimate.diagnostics.get("probability_unseen")
    factor = estimate.diagnostics.get("bayes_factor")
    if probability is None or factor is None or len(estimate.classes) == 1:
        return []
    before = _probability_before(probability, factor)
    if before is not None:
        return [
            f"That anything is unseen is {words.likelihood(probability)}: we started from "
            f"{100 * before:.3g}%, and the data made it {words.chance(probability)}."
        ]
    if factor > _OVERWHELMING:
        return [
            "That anything is unseen is almost certain, whatever one started from: the data "
            f"favour it by more than {_OVERWHELMING:,} to 1."
        ]
    return []


def _probability_before(probability: float, factor: float) -> float | None:
    """Bayes' rule backwards: odds before are odds after over the Bayes factor."""
    if not _LEAST_DOUBT < probability < 1 - _LEAST_DOUBT or not 0 < factor < float("inf"):
        return None  # rounded off, or no matter of data
    odds = probability / (1 - probability) / factor
    return odds / (1 + odds)


def source(study: Study) -> str:
    """Method and rows in one sentence.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> from unseen.study import Study
    >>> rows = {"n_labelled": {"cat": 9}, "n_new": 7}
    >>> source(Study(Estimate(("cat",), [0.7], 0.3, "made", **rows), n_new=1000))
    'made, from 7 of 1,000 new rows and 9 labelled rows of 1 known class.'
    """
    estimate = study.estimate
    new = _part(estimate.n_new, study.n_new_rows, "new")
    labelled = _part(
        sum(estimate.n_labelled.values()), sum(study.training_rows.values()), "labelled"
    )
    classes = words.count(len(estimate.classes), "known class")
    return f"{words.shown(estimate.method)}, from {new} and {labelled} of {classes}."


def _part(used: int, total: int, kind: str) -> str:
    if used == total:
        return words.count(used, f"{kind} row")
    return f"{used:,} of {words.count(total, f'{kind} row')}"


def assumptions(study: Study) -> list[Remark]:
    """What the numbers take for granted, in plain words.

    Parameters
    ----------
    study : Study

    Returns
    -------
    list of Remark
    """
    estimate = study.estimate
    smallest = min(estimate.classes, key=lambda label: estimate.n_labelled[label])
    fewest = estimate.n_labelled[smallest]
    rough = (
        "so its share is rough at best"
        if fewest < _ROUGH_ROWS
        else "and every other class at least as many"
    )
    if len(estimate.classes) == 1:
        rough = "so the estimate is rough at best" if fewest < _ROUGH_ROWS else "and that is all"
    enough = Remark(
        "Rows are drawn one by one, and there are enough of them.",
        f"The smallest class, {words.shown(smallest)}, has "
        f"{words.count(fewest, 'labelled row')}, {rough}. Copies of rows and rows that come in "
        "clusters make intervals too short.",
    )
    return [*(_CLOSED if is_blind(estimate) else _OPEN), enough]


def cautions(study: Study) -> tuple[list[str], list[str]]:
    """Warnings, which bear on the numbers, and notices, which say what was done; each once.

    Parameters
    ----------
    study : Study

    Returns
    -------
    warnings, notices : list of str
    """
    warnings, notices = study.estimate.warnings, study.notices
    if study.timeline is not None:
        warnings = (*warnings, *study.timeline.warnings)
        notices = (*notices, *_gaps(study.timeline))
    return at_most(warnings), at_most(one for one in notices if one not in warnings)


def at_most(messages: Iterable[str]) -> list[str]:
    """Each message once, on one line; what a page cannot hold is counted.

    Examples
    --------
    >>> at_most(["a", "a", "b"]), at_most(map(str, range(99)))[-1]
    (['a', 'b'], '84 more are left out here.')
    """
    sentences = list(dict.fromkeys(words.shown(one, words.LONGEST_SENTENCE) for one in messages))
    kept = sentences[:MOST_MESSAGES]
    if len(sentences) > len(kept):
        kept.append(f"{len(sentences) - len(kept)} more are left out here.")
    return kept


def _gaps(timeline: Timeline) -> list[str]:
    """New rows that no window counts."""
    found = []
    if timeline.skipped:
        named = ", ".join(
            f"{words.shown(shown_key(key), 24)} ({rows})" for key, rows in timeline.skipped[:5]
        )
        more = f" and {len(timeline.skipped) - 5} more" if len(timeline.skipped) > 5 else ""
        found.append(f"Windows with too few rows for an estimate: {named}{more}.")
    if timeline.n_missing:
        rows = words.count(timeline.n_missing, "new row")
        found.append(f"Without a date or key, and so in no window: {rows}.")
    return found
