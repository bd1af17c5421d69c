"""Tables of the pages that are written from committed results as a whole; see figures.py.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise, product
from math import inf
from statistics import mean, median
from typing import NamedTuple

from committed import Row, count, numbers, rows, table

DRIFT, DEFAULT, NUMERICS = "docs/drift.md", "docs/default.md", "docs/numerics.md"
FOUR = ("offset .1", "gain 5%", "one column", "noise .1")
VERDICTS = ("still", "unclear", "moved")
# The weight of "nothing is unseen" with several known classes.
PRIOR_CLOSED = 0.9


class Table(NamedTuple):
    """The lines of a table, and its place."""

    page: str
    name: str
    lines: tuple[str, ...]


def line(*cells: object) -> str:
    """A row of a table.

    Examples
    --------
    >>> line("", 3, "of 8")
    '| | 3 | of 8 |'
    """
    return " ".join(["|", *(f"{cell} |".lstrip() for cell in cells)])


def head(*cells: str) -> list[str]:
    """The first two rows of a table."""
    return [line(*cells), "|---" * len(cells) + "|"]


def bare(value: float) -> str:
    """Three digits, without a leading 0."""
    return f"{value:.3f}".removeprefix("0")


def verdicts(part: list[Row]) -> str:
    """How often each verdict was given."""
    return "/".join(str(count(part, "verdict", one)) for one in VERDICTS)


def errors(part: list[Row]) -> str:
    """Mean l1 without "moved", of EM and of the default."""
    two, em, three = (mean(numbers(part, f"l1_{how}")) for how in ("two", "em", "three"))
    return f"{two:.2f} / {em:.2f} / **{three:.2f}**"


# docs/drift.md


def drifted(known: bool) -> list[Row]:
    """Problems of drift.py with one known class, or with several."""
    return [row for row in table("drift") if (row["known"] == "1") is known]


def drift_cells(part: list[Row], shares: tuple[float, ...]) -> Iterator[str]:
    """Errors, verdicts, and how often intervals hold, by unseen share."""
    for share in shares:
        here = [row for row in part if float(row["share"]) == share]
        held = f"{mean(numbers(here, 'holds')):.2f}" if here else ""
        yield f"{errors(here)}, {verdicts(here)}, {held}" if here else "-"


def several() -> Iterator[str]:
    """All drifts, several known classes."""
    part, shares = drifted(known=False), (0.0, 0.05, 0.2, 0.5)
    named = {drift: (drift,) for drift in dict.fromkeys(row["drift"] for row in part)}
    yield from head("new rows", "nothing unseen", "5%", "20%", "50%")
    for title, wanted in (named | {"the four of these": FOUR}).items():
        here = [row for row in part if row["drift"] in wanted]
        yield line(title, *drift_cells(here, shares))


def one() -> Iterator[str]:
    """One known class, the other hidden."""
    yield from head("new rows", "5%", "20%", "50%")
    for title, wanted in {"none": ("none",), "the four of these": FOUR}.items():
        here = [row for row in drifted(known=True) if row["drift"] in wanted]
        yield line(title, *drift_cells(here, (0.05, 0.2, 0.5)))


def said_moved() -> Iterator[str]:
    """What was said of moved, and how often classes had moved or the old answer was wrong."""
    part = drifted(known=False)
    yield from head(
        "said to have moved", "problems", "mean said", "drifted", "old answer worse by .1"
    )
    for low, high in pairwise((0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0)):
        here = [row for row in part if low <= float(row["probability_moved"]) < high + (high == 1)]
        old, new = numbers(here, "l1_two"), numbers(here, "l1_three")
        means = (
            mean(numbers(here, "probability_moved")),
            1 - count(here, "drift", "none") / len(here),
            mean(two > 0.1 + three for two, three in zip(old, new, strict=True)),
        )
        yield line(f"{low} to {high}", len(here), *(f"{value:.2f}" for value in means))


def factor() -> Iterator[str]:
    """Drifts of a known factor against must(c)."""
    yield from head("factor", "drifts", "`must(c)` above the truth", "mean `must(c)`", "mean truth")
    for size in (1.0, 1.5, 2.0, 3.0, 5.0):
        here = rows("drift_factor", factor=size)
        means = (bare(mean(numbers(here, column))) for column in ("must", "unseen"))
        yield line(f"{size:g}", len(here), int(sum(numbers(here, "above"))), *means)


def keel() -> Iterator[str]:
    """Six sets that chose nothing."""
    part = [row for row in table("keel") if int(row["known"]) > 1]
    yield from head(
        "new rows, unseen",
        "problems",
        "l1: without moved / EM / the default",
        "verdicts",
        "holds",
    )
    drifts = {"no drift": ("none",), "the four drifts": FOUR}
    for (title, wanted), share in product(drifts.items(), (0.0, 0.05, 0.2, 0.5)):
        here = [row for row in part if row["drift"] in wanted and float(row["share"]) == share]
        held = int(sum(numbers(here, "holds")))
        yield line(f"{title}, {share:.0%}", len(here), errors(here), verdicts(here), held)


def stray() -> Iterator[str]:
    """Codes, faults and units in a few columns, several known classes."""
    part = [row for row in table("stray") if int(row["known"]) > 1]
    yield from head("new rows", "nothing unseen", "20%")
    for spoil in dict.fromkeys(row["drift"] for row in part):
        here = [row for row in part if row["drift"] == spoil]
        yield line(spoil, *drift_cells(here, (0.0, 0.2)))


def unlike() -> Iterator[str]:
    """Columns that are read wrongly, and samples of which nearly all is new."""
    yield from head(
        "new rows", "unseen", "l1: EM / the default", "still", "holds", "sure and wrong"
    )
    for row in table("unlike"):
        errors_ = f"{float(row['l1_em']):.2f} / **{float(row['l1']):.2f}**"
        parts = (f"{float(row[key]):.2f}" for key in ("still", "holds"))
        wrong = f"{row['sure_and_wrong']} of {row['problems']}"
        yield line(row["kind"], f"{float(row['share']):.0%}", errors_, *parts, wrong)


def laid_labels() -> Iterator[str]:
    """Wrong labels of rows as they lie and laid back, by drift and by unseen share."""
    laid = [row for row in table("drift_labels") if row["laid_back"] == "1"]
    yield from head("new rows", "problems", "as they lie", "laid back", "difference")
    for key in ("drift", "share"):
        for value in dict.fromkeys(sorted(row[key] for row in laid)):
            here = [row for row in laid if row[key] == value]
            lying, back = (numbers(here, name) for name in ("error_lying", "error"))
            title = value if key == "drift" else f"{float(value):.0%} unseen"
            gain = f"{mean(back) - mean(lying):+.3f}"
            yield line(title, len(here), f"{mean(lying):.3f}", f"{mean(back):.3f}", gain)


def moved_part() -> Iterator[str]:
    """Half of the rows of another instrument, without and with the sign of a part that moved."""
    every = [row for row in table("part") if int(row["known"]) > 1]
    yield from head("new rows", "unseen", "sets", "claimed", "still", "sure and wrong")
    for drift, kind in product(dict.fromkeys(row["drift"] for row in every), ("real", "made")):
        for share in dict.fromkeys(row["share"] for row in every if row["drift"] == drift):
            here = [row for row in every if (row["drift"], row["share"]) == (drift, share)]
            here = [row for row in here if row["set"].startswith("family") == (kind == "made")]
            both = []
            for by in ("_without", ""):
                claimed = mean(numbers(here, f"unseen{by}"))
                still = count(here, f"verdict{by}", "still")
                both.append(
                    (f"{claimed:.2f}", still, sum(is_surely_wrong(row, by) for row in here))
                )
            pairs = (f"{without} / {heard}" for without, heard in zip(*both, strict=True))
            yield line(drift, f"{float(share):.0%}", f"{len(here)} {kind}", *pairs)


def one_class() -> Iterator[str]:
    """One class among several moves, without and with the hypothesis that it moved alone."""
    every = [row for row in table("one_class") if int(row["known"]) > 1]
    yield from head("new rows", "unseen", "problems", "l1", "still", "holds", "sure and wrong")
    for kind, share in dict.fromkeys((row["kind"], row["share"]) for row in every):
        here = [row for row in every if (row["kind"], row["share"]) == (kind, share)]
        both = []
        for by in ("_without", ""):
            held = mean(
                float(row[f"low{by}"]) - 1e-3
                <= float(row["true_unseen"])
                <= float(row[f"high{by}"]) + 1e-3
                for row in here
            )
            wrong = sum(int(row[f"sure_and_wrong{by}"]) for row in here)
            error = f"{mean(numbers(here, f'l1{by}')):.2f}"
            both.append((error, count(here, f"verdict{by}", "still"), f"{held:.2f}", wrong))
        pairs = (f"{without} / {heard}" for without, heard in zip(*both, strict=True))
        yield line(kind, f"{float(share):.0%}", len(here), *pairs)


def is_surely_wrong(row: dict[str, str], by: str) -> bool:
    """Whether an interval above 0 misses the truth though nothing seems to have moved."""
    low, high, truth = float(row[f"low{by}"]), float(row[f"high{by}"]), float(row["true_unseen"])
    return row[f"verdict{by}"] == "still" and low > 0 and not low - 1e-3 <= truth <= high + 1e-3


def control() -> Iterator[str]:
    """Without and with rows of the same place that hold nothing new."""
    (size,) = {len(rows("groups_control", drift=drift, unseen=share))
               for drift, share in product(("much", "far"), (0.0, 0.2))}  # fmt: skip
    yield from head(
        "drift",
        "unseen",
        "share",
        f"holds the truth, of {size}",
        "lower end",
        "upper end",
        f'verdict "still", of {size}',
    )
    for drift, share in product(("much", "far"), (0.0, 0.2)):
        here = rows("groups_control", drift=drift, unseen=share)
        both = []
        for by in ("_alone", ""):
            low, high = numbers(here, f"low{by}"), numbers(here, f"high{by}")
            held = sum(below <= share <= above for below, above in zip(low, high, strict=True))
            found = f"{mean(numbers(here, f'share{by}')):.2f}"
            still = count(here, f"verdict{by}", "still")
            both.append((found, held, f"{mean(low):.2f}", f"{mean(high):.2f}", still))
        pairs = (f"{alone} / {helped}" for alone, helped in zip(*both, strict=True))
        yield line(drift, f"{share:.0%}", *pairs)


def must() -> Iterator[str]:
    """How often held-out groups prove too much."""
    yield from head("drift", "groups", "nothing unseen: too high, factor", "20%: too high, `must`")
    for drift, groups in product(("little", "much"), (5, 10, 20)):
        cells = []
        for share, column in ((0.0, "factor"), (0.2, "must")):
            here = rows("groups_must", drift=drift, groups=groups, unseen=share)
            high = sum(value > share for value in numbers(here, "must"))
            cells.append(f"{high} of {len(here)}, {mean(numbers(here, column)):.2f}")
        yield line(drift, groups, *cells)


def groups() -> Iterator[str]:
    """Lower end and width of intervals, without and with groups."""
    yield from head("unseen", "groups", "lower end", "width")
    for share, size in product((0.0, 0.2), (5, 10, 20)):
        here = rows("groups_whole", unseen=share, groups=size)
        low, high = ([mean(numbers(here, f"{end}{by}")) for by in ("_alone", "")]
                     for end in ("low", "high"))  # fmt: skip
        ends = f"{low[0]:.2f} / {low[1]:.2f}"
        width = f"{high[0] - low[0]:.2f} / {high[1] - low[1]:.2f}"
        yield line(f"{share:.0%}", size, ends, width)


# docs/default.md


def held_and_width(part: list[Row], when: str = "") -> tuple[float, float]:
    """How often intervals hold the unseen share, and their median width."""
    low, high, truth = (numbers(part, name) for name in (f"low{when}", f"high{when}", "truth"))
    held = [
        below - 1e-3 <= share <= above + 1e-3
        for below, share, above in zip(low, truth, high, strict=True)
    ]
    return mean(held), median(above - below for below, above in zip(low, high, strict=True))


def open_problems() -> list[Row]:
    """Problems of sure.py in which something is unseen."""
    return [row for row in table("sure") if float(row["share"]) > 0]


def settings() -> dict[str, list[Row]]:
    """Problems of sure.py, setting by setting."""
    found = {"all open": open_problems()}
    for key in ("share", "rows", "known", "source", "overlap"):
        part = table("sure") if key == "share" else open_problems()
        values = {row[key] for row in part}
        in_order = sorted(values, key=str if key == "source" else float)
        found |= {f"{key} {one}": [row for row in part if row[key] == one] for one in in_order}
    return found


def sure() -> Iterator[str]:
    """How often intervals hold, setting by setting."""
    yield from head(
        "", "problems", "before: held, width", "held, width", "known shares held", "found", "l1"
    )
    for title, part in settings().items():
        before, now = ("{:.2f}, {:.3f}".format(*held_and_width(part, when))
                       for when in ("_before", ""))  # fmt: skip
        found = mean(share > 0 for share in numbers(part, "unseen"))
        known, l1 = mean(numbers(part, "known_held")), mean(numbers(part, "l1"))
        yield line(title, len(part), before, now, f"{known:.2f}", f"{found:.2f}", f"{l1:.3f}")


def probabilities() -> Iterator[tuple[float, float, list[Row], float, float]]:
    """Bins of what was said, several classes: ends, problems, said and open at the prior."""
    part = [row for row in table("sure") if int(row["known"]) > 1]
    opened = sum(float(row["share"]) > 0 for row in part)
    for low, high in pairwise((0, 0.02, 0.05, 0.2, 0.8, 1.0)):
        here = [row for row in part if low <= float(row["probability"]) < high + 1e-4 * (high == 1)]
        is_open = [float(row["share"]) > 0 for row in here]
        weights = [
            (1 - PRIOR_CLOSED) / opened if one else PRIOR_CLOSED / (len(part) - opened)
            for one in is_open
        ]
        pairs = list(zip(weights, numbers(here, "probability"), is_open, strict=True))
        said, true = (
            sum(weight * value for weight, value in column) / sum(weights)
            for column in (
                [(weight, said) for weight, said, _ in pairs],
                [(weight, one) for weight, _, one in pairs],
            )
        )
        yield low, high, here, said, true


def probability() -> Iterator[str]:
    """What "unseen with probability p" means."""
    yield from head(
        "said", "problems", "of them open", "mean of what was said", "open, at the prior"
    )
    for low, high, here, said, true in probabilities():
        opened = sum(float(row["share"]) > 0 for row in here)
        yield line(f"{low:g} to {high:g}", len(here), opened, f"{said:.3f}", f"{true:.3f}")


def limit() -> Iterator[str]:
    """What the detection limit foretold, and what was found."""
    yield from head("share over limit", "problems", "foretold", "found")
    for low, high in pairwise((0, 0.25, 0.5, 0.8, 1.25, 2, inf)):
        here = [
            row
            for row in foretold()
            if low <= float(row["truth"]) / float(row["limit"] or inf) < high
        ]
        power = mean(numbers(here, "power"))
        found = mean(share > 0 for share in numbers(here, "unseen"))
        yield line(f"{low:g} to {high:g}", len(here), f"{power:.2f}", f"{found:.2f}")


def foretold() -> list[Row]:
    """Open problems that have a detection limit."""
    return [row for row in open_problems() if row["power"] not in ("", "nan")]


WORK = {
    "k3_2000": "3 classes, 2,000 rows",
    "k3_5000": "3 classes, 5,000 rows",
    "k50_2000": "50 classes, 2,000 rows",
    "k3_20000": "3 classes, 20,000 rows",
    "k3_100000": "3 classes, 100,000 rows",
    "rule_5000": "a rule, 5,000 rows",
    "monitor": "`monitor`, 50 windows of 200 rows",
}


def jobs() -> Iterator[str]:
    """How much faster several jobs are than one, and what they cost."""
    yield from head("work", "jobs", "times as fast", "CPU time, of that of one", "MB, beside one")
    of_one = {row["cell"]: row for row in table("speed_jobs") if row["jobs"] == "1"}
    for row in table("speed_jobs"):
        one = of_one[row["cell"]]
        if row is not one:
            cpu = float(row["cpu"]) / float(one["cpu"])
            faster = f"{float(row['ratio']):.2f}"
            memory = f"{row['mb']}, {one['mb']}"
            yield line(WORK[row["cell"]], row["jobs"], faster, f"{cpu:.2f}", memory)


ON_PAGE: dict[str, tuple[Callable[[], Iterator[str]], ...]] = {
    DRIFT: (
        factor,
        control,
        must,
        groups,
        several,
        one,
        keel,
        stray,
        unlike,
        moved_part,
        one_class,
        laid_labels,
        said_moved,
    ),
    DEFAULT: (sure, probability, limit),
    NUMERICS: (jobs,),
}
TABLES = [
    Table(page, write.__name__, tuple(write())) for page, all_ in ON_PAGE.items() for write in all_
]
