"""Figures of docs/drift.md, and those of docs/default.md that come from the problems of sure.py."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean, pvariance, stdev

from committed import Row, average, cell, count, numbers, record, rows, table
from figures import Claim
from written_tables import (
    DEFAULT,
    DRIFT,
    FOUR,
    drifted,
    foretold,
    held_and_width,
    open_problems,
    probabilities,
    settings,
)

FAQ = "docs/faq.md"


def of_drifts(known: bool, wanted: tuple[str, ...] = ()) -> list[Row]:
    """Problems under some drifts, or under any; with one known class, or several."""
    return [
        row
        for row in drifted(known)
        if (row["drift"] in wanted if wanted else row["drift"] != "none")
    ]


def doubted(part: list[Row]) -> int:
    """How many verdicts are not "still"."""
    return len(part) - count(part, "verdict", "still")


def off(part: list[Row], by_drift: bool = False) -> list[Row]:
    """Problems whose answer without moved is off by more than .2, or that much worse by drift."""
    still = {
        (row["set"], row["share"], row["seed"]): float(row["l1_two"])
        for row in table("drift")
        if row["drift"] == "none"
    }
    return [
        row
        for row in part
        if float(row["l1_two"])
        > 0.2 + by_drift * still.get((row["set"], row["share"], row["seed"]), 2.0)
    ]


def sure_and_wrong(part: list[Row]) -> int:
    """Intervals above 0 that miss the truth under "still"."""
    return sum(
        row["verdict"] == "still" and row["holds"] == "0" and float(row["low"]) > 0 for row in part
    )


def above(part: list[Row], factor: int) -> int:
    """How often must(factor) is above the truth."""
    return sum(float(row[f"must_{factor}"]) > float(row["true_unseen"]) for row in part)


def undrifted() -> Iterator[Claim]:
    """Verdicts and errors without drift."""
    several, one = (of_drifts(known, ("none",)) for known in (False, True))
    still = count(several, "verdict", "still")
    gaps = [
        mean(float(row["l1_three"]) - float(row["l1_two"]) for row in several
             if float(row["share"]) == share)
        for share in (0.0, 0.05, 0.2, 0.5)
    ]  # fmt: skip
    yield Claim(
        DRIFT,
        "Without drift {} of {} problems with several classes are called moved, and {} ({}) are "
        "still; of {} with one class {} are still.",
        (count(several, "verdict", "moved"), len(several), still, still / len(several),
         len(one), count(one, "verdict", "still")),
    )  # fmt: skip
    yield Claim(DRIFT, "The mean error differs from that without moved by {}, {}, {} and {} at 0%, "
                "5%, 20% and 50% unseen.", tuple(gaps))  # fmt: skip
    firm = {share: [row for row in several
                    if row["verdict"] == "still" and float(row["share"]) == share]
            for share in (0.2, 0.5)}  # fmt: skip
    values = [
        number
        for part in firm.values()
        for number in (sum(float(row["low"]) == 0 for row in part), len(part))
    ]
    yield Claim(DRIFT, 'without drift and with 20% unseen, {} of {} intervals under "still" start '
                "at 0; with half of the rows unseen {} of {} do.", tuple(values))  # fmt: skip


def under_drift() -> Iterator[Claim]:
    """Verdicts, errors and intervals under drift."""
    yield Claim(DRIFT, "`python benchmarks/drift.py` makes {} problems", (len(table("drift")),))
    several, one = (of_drifts(known, FOUR) for known in (False, True))
    pairs = [
        (doubted(part), len(part))
        for by_drift in (False, True)
        for part in (off(several, by_drift), off(one, by_drift))
    ]
    yield Claim(
        DRIFT,
        'under the four drifts, {} of {} verdicts are "moved" or "unclear" with several classes '
        "({}), {} of {} with one. Many of the others were off without drift too: where drift "
        "itself made the answer worse by more than .2, {} of {} and {} of {} are not still.",
        (*pairs[0], pairs[0][0] / pairs[0][1], *pairs[1], *pairs[2], *pairs[3]),
    )
    wrong_share = [
        [row for row in part
         if abs(float(row["unseen_two"]) - float(row["true_unseen"])) > 0.2]
        for part in (several, one)
    ]  # fmt: skip
    yield Claim(
        DRIFT,
        "Where the *unseen share* without moved is off by more than .2 under the four drifts, {} "
        "of {} verdicts are not still with several classes, {} of {} with one.",
        tuple(n for part in wrong_share for n in (doubted(part), len(part))),
    )
    none = [row for row in several if float(row["share"]) == 0]
    false = [row for row in none
             if row["verdict"] == "still" and float(row["unseen_three"]) > 0.05]  # fmt: skip
    yield Claim(
        DRIFT,
        "With nothing unseen, {} of {} problems under the four drifts are called still with more "
        "than 5% unseen (gains of 5%: {}; intervals that begin at 0: {}).",
        (len(false), len(none), count(false, "drift", "gain 5%"),
         sum(float(row["low"]) == 0 for row in false)),
    )  # fmt: skip
    yield Claim(DRIFT, "The interval holds the truth in {} of {} problems of the four drifts.",
                (sum(numbers(one, "holds")), len(one)))  # fmt: skip
    every = [of_drifts(known) for known in (False, True)]
    wrong = [value for part in every for value in (sure_and_wrong(part), len(part))]
    yield Claim(
        DRIFT,
        "Intervals that lie above 0, miss the truth and are called still, over all "
        "drifts: {} of {} with several classes and {} of {} with one.",
        tuple(wrong),
    )
    calm = [row for row in table("drift") if row["drift"] == "none"]
    proved = [value for part in every for value in (above(part, 1), len(part))]
    yield Claim(
        DRIFT,
        "`must(1)` is above the truth in {} of {} drifted problems with several classes and {} of "
        "{} with one, `must(3)` in {} and {}: most of these drifts have no finite factor. Without "
        "drift `must(1)` is above the truth in {} of {}.",
        (*proved, *(above(part, 3) for part in every), above(calm, 1), len(calm)),
    )
    cost = tuple(cell("drift_time", "part", rows=size) for size in (1000, 5000, 10000))
    yield Claim(DRIFT, "Moved adds {} to the CPU time of an estimate with intervals at 1,000 rows, "
                "{} at 5,000 and {} at 10,000", cost)  # fmt: skip


def labels() -> Iterator[Claim]:
    """Error rates that a rule states, and errors of rows laid back."""
    stated = [row for row in table("drift_risk") if row["stated"] != "nan"]
    close = sum(abs(float(row["stated"]) - float(row["error"])) <= 0.1 for row in stated)
    yield Claim(
        DRIFT,
        "fits the default rule on {} of these problems, without drift and under the four. It "
        "states an error rate in {} of them, and in {} this is within .1 of the true one.",
        (len(table("drift_risk")), len(stated), close),
    )
    laid = [row for row in table("drift_labels") if row["laid_back"] == "1"]
    lying, back = (numbers(laid, name) for name in ("error_lying", "error"))
    lower = [before - after for before, after in zip(lying, back, strict=True)]
    yield Claim(
        DRIFT,
        "{} of {} problems are called moved, and the rows of {} are laid back. There {} of the "
        "labels are wrong on average, and {} if the rows are read as they lie: a difference of {} "
        "with standard error {}. The error falls by more than .02 in {} problems and rises by more "
        "than .02 in {}.",
        (
            count(table("drift_labels"), "verdict", "moved"), len(table("drift_labels")),
            len(laid), mean(back), mean(lying), mean(lower), stdev(lower) / len(laid) ** 0.5,
            sum(one > 0.02 for one in lower), sum(one < -0.02 for one in lower),
        ),
    )  # fmt: skip


def groups() -> Iterator[Claim]:
    """Whole estimates with and without groups."""
    part = table("groups_whole")
    held = [
        sum(float(row[f"low{by}"]) <= float(row["unseen"]) <= float(row[f"high{by}"])
            for row in part)
        for by in ("_alone", "")
    ]  # fmt: skip
    claimed, found = (
        [average("groups_whole", f"share{by}", unseen=share)[0] for by in ("_alone", "")]
        for share in (0.0, 0.2)
    )
    new = rows("groups_whole", unseen=0.2)
    away = [mean(abs(value - 0.2) for value in numbers(new, f"share{by}"))
            for by in ("_alone", "")]  # fmt: skip
    yield Claim(
        DRIFT,
        "in {} problems (blobs and waveform, much drift). The interval holds the truth in {} of "
        "them without groups and in {} with groups. The mean share that is claimed where nothing "
        "is new falls from {} to {}, and the mean distance to the truth where 20% is new from {} "
        "to {} (with groups the share comes out low: {} on average).",
        (len(part), *held, *claimed, *away, found[1]),
    )


def gas() -> Iterator[Claim]:
    """Sensors that drifted from batch to batch."""
    found = {(one["case"], bool(one["hidden"])): one for one in record("gas")}

    def errors(*names: str, hidden: bool = False) -> tuple[float, ...]:
        return tuple(found[name, hidden][key] for key in ("l1", "l1_em") for name in names)

    later = [f"batches 1 and 2 to {batch}" for batch in (3, 4, 5)]
    unclear = [found[name, True] for name in later[1:]]
    across = [one for (name, _), one in found.items() if name != "within batch 2"]
    assert all(one["far"] for one in across if one not in unclear)
    assert all(one["interval"] == [0.0, 1.0] for one in across)
    assert {one["verdict"] for one in unclear} == {"unclear"}
    yield Claim(DRIFT, "| batch 1, batch 2 | 0 | cannot tell, 0 to 1 | moved, far | {}, {} |",
                errors("batch 1 to 2"))  # fmt: skip
    alone, hidden = (found["within batch 2", which] for which in (False, True))
    yield Claim(DRIFT, "| half of batch 2, the other half | {} | {}, {} to {} | still | {}, {} |",
                (alone["truth"], alone["unseen"], *alone["interval"],
                 *errors("within batch 2")))  # fmt: skip
    yield Claim(DRIFT, "| the same, ethylene hidden | {} | {}, {} to {} | still ({}) | {}, {} |",
                (hidden["truth"], hidden["unseen"], *hidden["interval"],
                 hidden["probability_moved"],
                 *errors("within batch 2", hidden=True)))  # fmt: skip
    yield Claim(DRIFT, "| batches 1 and 2, batch 3 / 4 / 5 | 0 | cannot tell, 0 to 1 | moved, far |"
                " {} / {} / {}, {} / {} / {} |", errors(*later))  # fmt: skip
    far = found[later[0], True]
    yield Claim(DRIFT, "| batches 1 and 2, batch 3, ethylene hidden | {} | cannot tell, 0 to 1 | "
                "moved, far | {}, {} |",
                (far["truth"], far["l1"], far["l1_em"]))  # fmt: skip
    for batch, one in zip((4, 5), unclear, strict=True):
        yield Claim(DRIFT, f"| batches 1 and 2, batch {batch}, ethylene hidden | {{}} | {{}}, 0 to "
                    "1 | unclear | {}, {} |",
                    (one["truth"], one["unseen"], one["l1"], one["l1_em"]))  # fmt: skip


def sure() -> Iterator[Claim]:
    """How often intervals hold, and what limits and probabilities are worth."""
    whole, opened = table("sure"), open_problems()
    # A closed problem is drawn a second time with the seed 1,000 higher.
    seeds = {int(row["seed"]) for row in opened}
    own = [row for row in whole if int(row["seed"]) % 1000 in seeds]
    yield Claim(DEFAULT, "{} problems of each of six seeds, and {} closed ones of three more.",
                (len(own) / len(seeds), len(whole) - len(own)))  # fmt: skip
    first = [row for row in opened if row["seed"] == "0"]
    yield Claim(DEFAULT, "of seed 0 alone intervals hold {} of {} open problems.",
                (held_and_width(first)[0], len(first)))  # fmt: skip
    closed = [row for row in whole if float(row["share"]) == 0]
    yield Claim(DEFAULT, "{} of {} closed problems has a false alarm.",
                (sum(value > 0 for value in numbers(closed, "unseen")), len(closed)))  # fmt: skip
    hundred = [row for row in opened if row["rows"] == "100" and row["known"] != "1"]
    shares = [[row for row in hundred if row["share"] == share] for share in ("0.05", "0.15")]
    yield Claim(DEFAULT, "5% and 15% unseen are found in {} and {} of {} problems each.",
                (*(mean(value > 0 for value in numbers(part, "unseen")) for part in shares),
                 len(shares[0])))  # fmt: skip
    gap = max(abs(said - true) for *_, said, true in probabilities())
    yield Claim(DEFAULT, "The largest difference between the last two columns is {}.", (gap,))
    found = [value > 0 for value in numbers(foretold(), "unseen")]
    power = numbers(foretold(), "power")
    yield Claim(DEFAULT, "Its Brier score is {}, against {} of a constant. A logistic regression "
                "on the share and the labelled rows a class has {}",
                (brier(power, found), pvariance(map(float, found)),
                 brier(fitted(foretold(), found), found)))  # fmt: skip
    least = min(held_and_width(part)[0] for part in settings().values())
    yield Claim(FAQ, "On {} made and bundled problems with something unseen they hold the "
                "unseen share in {}, and in {} or more of every row of the",
                (len(opened), held_and_width(opened)[0], least))  # fmt: skip
    bags = table("bags")
    yield Claim(DEFAULT, "In {} bags drawn with replacement from wine, iris, breast cancer and "
                "digits, nothing unseen (`benchmarks/sure.py bags`), the unseen share is 0 in {}.",
                (len(bags), sum(value == 0 for value in numbers(bags, "unseen"))))  # fmt: skip


def brier(said: list[float], found: list[bool]) -> float:
    """Mean squared distance of a probability from what happened."""
    return mean((one - other) ** 2 for one, other in zip(said, found, strict=True))


def fitted(part: list[Row], found: list[bool]) -> list[float]:
    """Probability of being found by a logistic regression, each source left out in turn."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict

    logs = np.log([[float(row[key]) for key in ("share", "rows")] for row in part])
    return cross_val_predict(
        LogisticRegression(), logs, found, groups=[row["source"] for row in part],
        cv=LeaveOneGroupOut(), method="predict_proba",
    )[:, 1].tolist()  # fmt: skip


SOURCES = (undrifted, under_drift, labels, groups, gas, sure)
