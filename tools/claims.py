"""The figures of the pages, and the committed results that they come from; see figures.py.

One function per benchmark reads its results and yields claims. A claim quotes the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import mean

import benchmark_claims
import drift_claims
import use_claims
from committed import average, cell, rows, table, table_by
from figures import Claim

DEFAULT, COMPARISON, FAQ = "docs/default.md", "docs/comparison.md", "docs/faq.md"
GPU = "docs/gpu.md"
LOOP, MONITOR, EMBEDDINGS = "docs/loop.md", "docs/monitor.md", "docs/embeddings.md"
CELLS = "docs/case_cells.md"

# Pages whose every decimal fraction is a claim, part of a written table, or one of these.
STATED = {
    "README.md": (r"moved by \.1 sd",),
    "benchmarks/README.md": (r"QuaPy 0\.2\.3 and mlquantify 0\.5\.1", r"can be below \.30"),
    COMPARISON: (r"QuaPy 0\.2\.3, NannyML 0\.13\.1, Evidently 0\.7\.23, PyOD 3\.6\.7",
                 r"cleanlab 2\.9\.0", r"ECOD of 3\.6\.7", r"cannot tell \.95 from 1",
                 r"cannot be below \.30", r"moved by \.1 sd", r"multiplied by 1\.05"),
    FAQ: (r"±\.03 at a share of one third", r"can do better than \.30"),
    LOOP: (r"probability of at least 0\.9", r"alone makes an error of 0\.04",
           r"at most 9\.5% are, whatever the model said"),
    DEFAULT: (r'weight of "closed" is \.9', r"single class it is \.02", r"A weight of \.9 is",
              r'under "open" lie 1\.2 times', r"of power \.8", r"probability is above \.2",
              r"shares of \.1, \.3, \.\.\. \.9", r"18 more problems lay below \.05",
              r"standard errors of about \.05", r"weigh \.9 here and open ones \.1",
              r"at least 0\.6 \(an AUC of \.66\)", r"log-loss above \.1, gradient"),
    "docs/drift.md": (
        r'above \.8 is "moved", above \.2 "unclear"', r"farthest moved by \.25 deviations",
        r"lie \.13 standard deviations", r"is below \.5 the law",
        r"a large move, of \.5 deviations", r"much: \.5 deviations, 10%; far: 1\.5 deviations",
        r"little: \.15 deviations, 3%; much: \.5, 10%", r"(by|of) \.05, \.1 or \.3",
        r"turned by \.15 radian", r"offset of \.[23] in", r"(offset|noise) \.1\b",
        r"off by more than \.2 under", r"a probability of \.73 against open",
        r"Its prior probability is \.08;", r"at most \.73 against open",
        r"the probability is \.27,", r"A prior probability of \.1, against",
        r"which is a probability of \.27: the",
        r"above \.8\) and the rows depart by \.8", r"probability of \.8 or less",
        r"look unseen \(\.8 or more\) and stand off 1\.6 times", r"within \.1 of the true one",
        r"of moved against open is \.45,", r"and a prior of \.18\.",
        r"`probability_moved` is above \.5, several", r"with a spread of \.4\.",
        r"at most \.15 in one round", r"taken off \(\.08 deviations",
    ),
    "docs/reproduction.md": (r"1\.3 core-hours", r"the paper's printed \.10 .*? it is \.08"),
    "docs/scale.md": (r"\.0035 at most", r"and \.15 µs for each class", r"takes \.15 µs a row",
                      r"pyspark 4\.3"),
    "docs/big_data.md": (r"at most \.0035: .*? ±\.0014", r"share of \.30", r"With 0\.1% unseen"),
    # Runs on other hosts, which the page says are not in the file; the last is a rounding error.
    GPU: (r"took 3\.1 to\n5\.8 s", r"takes \.11 to \.34 s", r"for 1\.5 s of",
          r"by up to \.01 where", r"an interval by \.02\."),
    MONITOR: (r"`alpha`, 0\.05", r"the usual 0\.05"),
    "docs/numerics.md": (r"within \.005, and \.5 over the root",),
    EMBEDDINGS: (),
    CELLS: (),
    "docs/case_queries.md": (r"CC BY 3\.0",),
    "docs/case_gas.md": (r"CC BY 4\.0",),
    "docs/what_now.md": (r"at most 9\.5% are",),
}  # fmt: skip
WHOLE = tuple(STATED)


def paper() -> Iterator[Claim]:
    """The default on the paper's sets: errors, differences, coverage."""

    def of(column: str, group: str, method: str = "OpenSet", scope: str = "all") -> tuple:
        settings = ("observed", "unobserved")
        place = {"group": group, "method": method, "scope": scope}
        return tuple(cell("default_paper", column, setting=one, **place) for one in settings)

    def gain(group: str, method: str, scope: str) -> tuple[float, float]:
        place = {"group": group, "method": method, "scope": scope, "setting": "unobserved"}
        less, error = (cell("default_paper", name, **place) for name in ("default_minus", "se"))
        return -less, error

    names = {
        "`OpenSetEstimator`": "OpenSet", "`SaerensEM`": "EM*", "`MPEIncomplete`": "MPE-Incomplete*",
        "the paper's MPE-Incomplete": "MPE-Incomplete",
    }  # fmt: skip
    for group, first in (("binary", "13 binary sets: "), ("multiclass", "3 multiclass sets: ")):
        remarks = {"EM*": ", closed-set", "MPE-Incomplete": " (this library's run of it)"}
        lines, values = [], ()
        for name, method in names.items():
            head = first if method == "OpenSet" else ""
            tail = remarks.get(method, "") if group == "binary" else ""
            lines.append(f"| {head}{name}{tail} | {{}} | {{}} |")
            values += of("error", group, method)
        yield Claim(DEFAULT, "\n".join(lines), values)
    unseen, lowest = "not developed on", "breast_cancer"
    never = [of("error", group, method, unseen) for group in ("binary", "multiclass")
             for method in ("OpenSet", "EM*", "MPE-Incomplete*")]  # fmt: skip
    yield Claim(
        DEFAULT,
        "binary {} observed (EM {}) and {} unobserved (`MPEIncomplete` {}, a difference of {} with "
        "a standard error of {} over sets);",
        (never[0][0], never[1][0], never[0][1], never[2][1],
         *gain("binary", "MPE-Incomplete*", unseen)),
    )  # fmt: skip
    yield Claim(
        DEFAULT,
        "multiclass {} (EM {}) and {} (`MPEIncomplete` {}, a difference of {} with a standard "
        "error of {} over two sets; the paper's MPE-Incomplete {}, {} with {}).",
        (never[3][0], never[4][0], never[3][1], never[5][1],
         *gain("multiclass", "MPE-Incomplete*", unseen),
         of("error", "multiclass", "MPE-Incomplete", unseen)[1],
         *gain("multiclass", "MPE-Incomplete", unseen)),
    )  # fmt: skip
    yield Claim(
        DEFAULT,
        "`breast_cancer` unobserved, {} against {} of `MPEIncomplete` (standard error of the "
        "difference {}) and {} of the paper's; observed, at most {} worse than EM.",
        (of("error", "binary", scope=lowest)[1],
         of("error", "binary", "MPE-Incomplete*", lowest)[1],
         gain("binary", "MPE-Incomplete*", lowest)[1],
         of("error", "binary", "MPE-Incomplete", lowest)[1],
         max(float(row["default_minus"]) for row in table("default_paper")
             if (row["setting"], row["method"]) == ("observed", "EM*"))),
    )  # fmt: skip
    peaks = [of("peak_over_mean", group)[1] for group in ("binary", "multiclass")]
    yield Claim(DEFAULT, "within {} times its mean, that of the multiclass sets within {} times",
                tuple(peaks))  # fmt: skip
    held = [of("coverage", group) for group in ("binary", "multiclass")]
    four = (held[0][0], held[1][0], held[0][1], held[1][1])
    least = (of("coverage", "binary", scope="banana")[1],
             of("coverage", "binary", scope="saheart")[0])  # fmt: skip
    yield Claim(DEFAULT, "intervals hold {} (binary) and {} (multiclass) of the true shares where "
                "all classes are observed, and {} and {} where class M is not; the lowest are "
                "`banana` unobserved with {} and `saheart` observed with {}.",
                four + least)  # fmt: skip
    yield Claim(FAQ, "held {} (two classes) and {} (several) of the true shares where all classes "
                "were known, and {} and {} where one was unseen. The lowest were `banana` with {}, "
                "a class unseen, and `saheart` with {}, all known", four + least)  # fmt: skip
    yield Claim(COMPARISON, "Nominal 95% intervals held {} of the true shares on one of the "
                "paper's sets", least[:1])  # fmt: skip


def ablation() -> Iterator[Claim]:
    """What each ingredient of the default brings."""
    names = {
        "the default": "default",
        'prior weight .5 of "closed"': "prior_closed 0.5",
        "always open": "prior_closed 0: always open",
        "always closed": "prior_closed 1: always closed",
        "known classes taken for unmoved": "prior_moved 0: no class has moved",
        "no distances": "no distances",
        "the best discriminator instead of the average over all candidates":
            "best discriminator alone",
        "uniform prior of the unseen share": "uniform prior of the unseen share",
        "shares among known classes as if closed": "shares of known classes as if closed",
    }  # fmt: skip
    for name, variant in names.items():
        values = [
            cell("default_ablation", column, setting=setting, group=group, variant=variant)
            for group in ("binary", "multiclass")
            for setting, column in (
                ("observed", "error"), ("unobserved", "error"), ("unobserved", "at_a_tenth"),
            )
        ]  # fmt: skip
        yield Claim(DEFAULT, f"| {name} | {{}} / {{}} | {{}} | {{}} / {{}} | {{}} |", tuple(values))


def shift() -> Iterator[Claim]:
    """Label shift on other data."""
    names = {
        "digits *": "digits, 10 classes", "wdbc": "wdbc, 2 classes", "wine": "wine, 3 classes",
        "blobs": "four blobs",
    }  # fmt: skip
    for problem, name in names.items():
        found = rows("default_shift", problem=problem)
        values = {(row["method"], row["case"]): float(row["total_variation"]) for row in found}
        cells, numbers = [], []
        for method in ("OpenSetEstimator", "MPEIncomplete", "SaerensEM"):
            both = [values.get((method, case)) for case in ("nothing unseen", "a class unseen")]
            cells.append(" / ".join("-" if one is None else "{}" for one in both))
            numbers += [one for one in both if one is not None]
        yield Claim(DEFAULT, f"| {name} | {' | '.join(cells)} |", tuple(numbers))


def calibration() -> Iterator[Claim]:
    """Whether "probably unseen" means it."""
    ends = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1)
    for low, high in pairwise(ends):
        (row,) = rows("calibration", what="probability", group=f"{low:g} to {high:g}")
        values = tuple(float(row[key]) for key in ("n", "said", "true", "se"))
        yield Claim(DEFAULT, f"| {low:g} to {high:g} | {{}} | {{}} | {{}} ({{}}) |", values)
    known, unseen = (
        [cell("calibration", key, what=f"coverage of {what}", group=group)
         for group in ("closed", "open") for key in ("true", "se")]
        for what in ("known classes", "unseen")
    )  # fmt: skip
    yield Claim(DEFAULT, "intervals hold {} ({}) of the known shares that the rows were drawn with "
                "where nothing is unseen, and {} ({}) where something is; of the unseen share {} "
                "and {} ({}).", (*known, unseen[0], *unseen[2:]))  # fmt: skip


def skewed() -> Iterator[Claim]:
    """Skewed columns and codes."""
    sets = {
        "log_normal": ("made", "log-normal columns, 3 classes"),
        "codes": ("made", "ten codes and five columns of noise, 2 classes"),
        **{name: ("real", name) for name in ("thyroid", "german", "splice")},
    }
    for name, (part, title) in sets.items():
        numbers = [
            value
            for share in (0.0, 0.25)
            for column in ("error_before", "error_after")
            for value in average(f"skewed_{part}", column, set=name, unseen_share=share)
        ]
        text = " | ".join(["{} ({})"] * 4)
        yield Claim(DEFAULT, f"| {title} | {text} |", tuple(numbers))
    needless = rows("skewed_made", unseen_share=0.0)
    assert not any(float(row["unseen_after"]) for row in needless), "the page says: no false alarm"
    slower = [
        mean(float(row["seconds_after"]) / float(row["seconds_before"]) for row in found)
        for found in table_by("skewed_made", ("set", "unseen_share")).values()
    ]
    yield Claim(DEFAULT, "On the made problems the time is {} to {} times that of equal spread",
                (min(slower), max(slower)))  # fmt: skip


def boosting() -> Iterator[Claim]:
    """Steps in some of many columns."""
    for (problem,), own in table_by("boosting", ("problem",)).items():
        errors = [
            value
            for column in ("error_before", "error_after")
            for value in average("boosting", column, problem=problem)
        ]
        chosen = sum(int(row["chosen"]) for row in own)
        before, after = (
            sum(float(row[column]) for row in own) for column in ("seconds_before", "seconds_after")
        )
        yield Claim(DEFAULT, f"| {problem} | {{}} ({{}}) | {{}} ({{}}) | {{}} of 10 | {{}} |",
                    (*errors, chosen, after / before))  # fmt: skip


def demo() -> Iterator[Claim]:
    """Twenty draws of the demo."""
    draws = table("demo")
    held = sum(float(one["lower"]) <= float(one["truth"]) <= float(one["upper"]) for one in draws)
    first = [float(draws[0][key]) for key in ("unseen", "lower", "upper")]
    yield Claim(DEFAULT, "in the draw that `unseen demo` shows it is {} ({} to {}) for a true 30%; "
                "the mean of twenty draws is {}, and {} of 20 intervals hold the truth",
                (*first, mean(float(one["unseen"]) for one in draws), held))  # fmt: skip


def peers() -> Iterator[Claim]:
    """Closed-set methods of three libraries at 30% unseen."""
    found = [row for row in table("peers") if row["setting"] == "30% unseen" and row["error"]]
    see = ("unseen OpenSetEstimator", "unseen MPEIncomplete")
    closed = [float(row["error"]) for row in found if row["method"] not in see]
    yield Claim(FAQ, "closed-set methods from three libraries were off by {} to {} in total "
                "variation", (min(closed), max(closed)))  # fmt: skip


def coverage() -> Iterator[Claim]:
    """Intervals of MPEIncomplete on simulated problems."""
    method = "MPEIncomplete, Calibrated (default)"
    values = [cell("coverage", "coverage", method=method, problems=problems, share=share)
              for problems in ("all", "rings") for share in ("known class", "unseen")]  # fmt: skip
    yield Claim(FAQ, "held {} of known and {} of unseen shares, but {} and {} on one kind, rings",
                tuple(values))  # fmt: skip


def rules() -> Iterator[Claim]:
    """Macro-F1 of rules."""

    def f1(data: str, rule: str, shares: str) -> float:
        return average("rejection", "macro_f1", data=data, rule=rule, shares=shares)[0]

    detectors = ("max probability", "isolation forest", "one-class SVM")
    best = max(f1("satimage", one, "true") for one in detectors)
    ours = f1("satimage", "default", "estimated")
    yield Claim(COMPARISON, "macro-F1 {} on satimage with estimated shares, against {} for the "
                "best of three detectors", (ours, best))  # fmt: skip
    two = tuple(f1("splice", rule, "estimated") for rule in ("forest", "default"))
    yield Claim(COMPARISON, "a plain forest of ours beats our default rule, {} to {} macro-F1", two)


CLAIMS = [
    claim
    for source in (paper, ablation, shift, calibration, skewed, boosting, demo, peers, coverage,
                   rules, *use_claims.SOURCES, *drift_claims.SOURCES, *benchmark_claims.SOURCES)
    for claim in source()
]  # fmt: skip
