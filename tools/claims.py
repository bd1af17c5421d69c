"""The figures of the pages, and the committed results that they come from; see figures.py.

One function per benchmark reads its results and yields claims. A claim quotes the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import mean, median

import benchmark_claims
import drift_claims
from committed import average, cell, record, rows, table, table_by
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
              r"shares of \.1, \.3, \.\.\. \.9", r"one more problem lay below \.05",
              r"standard errors of about \.05", r"weigh \.9 here and open ones \.1",
              r"at least 0\.6 \(an AUC of \.66\)"),
    "docs/drift.md": (
        r'above \.8 is "moved", above \.2 "unclear"', r"farthest moved by \.25 deviations",
        r"lie \.13 standard deviations", r"see less than \.6 of the share", r"is below \.5 the law",
        r"a large move, of \.5 deviations", r"much: \.5 deviations, 10%; far: 1\.5 deviations",
        r"little: \.15 deviations, 3%; much: \.5, 10%", r"(by|of) \.05, \.1 or \.3",
        r"turned by \.15 radian", r"offset of \.[23] in", r"(offset|noise) \.1\b",
        r"off by more than \.2 under", r"a probability of \.73 against open",
        r"They count from 2\.5 on", r"log-odds below 2\.5 are",
        r"above \.8\) and the rows depart by \.8",
        r"of moved against open is \.42\.", r"and a prior of \.18\.",
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
DRIFTS = ("columns moved by .1 sd", "gain of 5%")
# The lines of the head-to-head on each page: title, tool, quantity.
COMPARED = (
    ("**unseen share**, the truth", "truth", "unseen share"),
    ("`unseen.estimate`", "unseen", "unseen share"),
    ("lower end of its 95% interval", "unseen", "unseen low"),
    ("upper end", "unseen", "unseen high"),
    ('says "known classes moved"', "unseen", "says moved"),
    ('says "unclear"', "unseen", "says unclear"),
    ("**accuracy of the classifier**, the truth", "truth", "accuracy"),
    ("NannyML, CBPE", "NannyML", "accuracy"),
    ("chunks of 100 rows with an alert", "NannyML", "alerts on accuracy"),
    ("`unseen.open_set_risk`", "unseen", "accuracy"),
    ("**drift**: Evidently, share of columns", "Evidently", "drifted columns"),
    ("Evidently, predictions called drifted", "Evidently", "predictions called drifted"),
    ("NannyML, AUROC of the domain classifier", "NannyML", "domain AUROC"),
    ("cleanlab, rows called one sample", "cleanlab", "rows called one sample"),
    ("**shares of all classes**, error: QuaPy EMQ", "QuaPy EMQ", "error of shares"),
    ("`unseen.estimate`, error of shares", "unseen", "error of shares"),
    ("**rows flagged**: PyOD KNN", "PyOD", "rows flagged"),
    ("cleanlab Datalab", "cleanlab", "rows flagged"),
)
IN_README = (
    ("true unseen share", "truth", "unseen share"),
    ("**unseen**: unseen share", "unseen", "unseen share"),
    ("... lower end of its 95% interval", "unseen", "unseen low"),
    ('... says "known classes moved"', "unseen", "says moved"),
    ("QuaPy (shares of known classes): error of the shares", "QuaPy EMQ", "error of shares"),
    ("... `unseen`: the same", "unseen", "error of shares"),
    ("true accuracy of the classifier", "truth", "accuracy"),
    ("NannyML (accuracy before labels arrive): that accuracy", "NannyML", "accuracy"),
    ("Evidently (drift of columns): columns called drifted", "Evidently", "drifted columns"),
    ("PyOD (odd rows): rows flagged", "PyOD", "rows flagged"),
    ("cleanlab (faults of labelled data): outliers", "cleanlab", "rows flagged"),
)


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


def head_to_head() -> Iterator[Claim]:
    """Six tools on the same rows, with and without drift, digits and satimage."""
    results = "examples/head_to_head/results/logistic.csv"

    def of(tool: str, quantity: str, *settings: str, data: str = "") -> tuple[float, ...]:
        return tuple(
            average(results, "value", data=one, tool=tool, quantity=quantity, setting=setting)[0]
            for setting in settings
            for one in ([data] if data else ["digits", "satimage"])
        )

    whole = ("nothing new", "known classes shifted", *DRIFTS, "30% unseen")
    for title, tool, quantity in COMPARED:
        # A risk is not stated under drift.
        stated = [
            one for one in whole if (tool, quantity) != ("unseen", "accuracy") or one not in DRIFTS
        ]
        cells = " | ".join("{} / {}" if one in stated else "not stated" for one in whole)
        yield Claim(COMPARISON, f"| {title} | {cells} |", of(tool, quantity, *stated))
    short = ("nothing new", *DRIFTS, "30% unseen")
    for title, tool, quantity in IN_README:
        cells = " | ".join(["{} / {}"] * len(short))
        yield Claim("README.md", f"| {title} | {cells} |", of(tool, quantity, *short))
    for name in ("unseen", "quapy", "cleanlab", "pyod", "evidently", "nannyml"):
        size = "examples/head_to_head/results/footprint.csv"
        values = tuple(cell(size, column, tool=name) for column in ("packages", "megabytes"))
        shown = {"quapy": "QuaPy", "pyod": "PyOD", "nannyml": "NannyML", "evidently": "Evidently"}
        title = shown.get(name, "`unseen`" if name == "unseen" else name)
        yield Claim(COMPARISON, f"| {title} | {{}} | {{}} |", values)
    forest = {
        (data, setting, tool): average(
            results.replace("logistic", "forest"), "value",
            data=data, setting=setting, tool=tool, quantity="accuracy",
        )[0]
        for data in ("digits", "satimage")
        for setting in ("nothing new", "30% unseen")
        for tool in ("NannyML", "truth")
    }  # fmt: skip
    believed = tuple(forest["satimage", "30% unseen", tool] for tool in ("NannyML", "truth"))
    yield Claim(COMPARISON, "On satimage CBPE says {} for a true {},", believed)
    yield Claim(COMPARISON, "off in the control already, {} for a true {}; its {} for a true {}",
                tuple(forest["digits", setting, tool] for setting in ("nothing new", "30% unseen")
                      for tool in ("NannyML", "truth")))  # fmt: skip
    flagged = [of("PyOD in unseen", "rows flagged", "nothing new"),
               of("PyOD", "accuracy", "nothing new"),
               of("PyOD in unseen", "accuracy", "nothing new")]  # fmt: skip
    yield Claim(COMPARISON, "falls to an accuracy of {} (digits) and {} (satimage); inside "
                "`RejectionThreshold` it flags {} and {}, and the accuracy is {} and {}.",
                (*flagged[1], *flagged[0], *flagged[2]))  # fmt: skip
    both = [of(tool, "accuracy", "30% unseen") for tool in ("PyOD", "PyOD in unseen")]
    said = of("PyOD in unseen", "estimated accuracy", "30% unseen")
    yield Claim(COMPARISON, "With 30% unseen they have {} and {} on digits, {} and {} on satimage. "
                "For the rule's {} and {} `rule.risk_` said {} and {}, without a label.",
                (both[0][0], both[1][0], both[0][1], both[1][1], *both[1], *said))  # fmt: skip


def loop() -> Iterator[Claim]:
    """Audits, groups, sentences, the loop."""
    kinds = {row["kind"]: float(row["held_unseen"]) for row in table("loop_audit")}
    (whole,) = rows("loop_audit", kind="all")
    held = tuple(float(whole[f"held_{of}"]) for of in ("unseen", "if_any", "known"))
    yield Claim(LOOP, "share held in {}, {} where anything was new (an interval that begins at 0 "
                "holds a share of 0), and those of known classes in {}.", held)  # fmt: skip
    yield Claim(LOOP, "By kind of model, {} (wrong) to {} (right: intervals",
                (min(kinds.values()), max(kinds.values())))  # fmt: skip
    widths = tuple(float(whole[f"width{part}"]) for part in ("", "_uniform_half", "_uniform_all"))
    yield Claim(LOOP, "mean width was {}, where the uniform half of the labels alone gave {} and "
                "as many uniform labels as in the sheet {}.", widths)  # fmt: skip
    titles = {"breast_cancer": "breast cancer", "clinc150 intents": "CLINC150, twelve intents",
              "clinc150 domains": "CLINC150, ten domains"}  # fmt: skip
    right = {row["set"]: float(row["accuracy"]) for row in rows("loop_groups", rule="known width")}
    for name in right:
        errors = [cell("loop_groups", "error", set=name, rule=rule)
                  for rule in ("known width", "HDBSCAN", "silhouette", "BIC")]  # fmt: skip
        draws = cell("loop_groups", "draws", set=name, rule="known width")
        line = f"| {titles.get(name, name)} | {{}} | {{}} | {{}} | {{}} | {{}} |"
        yield Claim(LOOP, line, (draws, *errors))
    shown = ("digits", "satimage", "segment", "clinc150 intents", "clinc150 domains")
    others = [value for name, value in right.items() if name not in shown]
    yield Claim(LOOP, "in {} of the cases on digits, {} on satimage, {} on segment, {} on intents, "
                "{} on domains and {} to {} elsewhere.",
                (*(right[name] for name in shown), min(others), max(others)))  # fmt: skip
    best = [cell("loop_oracle", "accuracy", set=name, least_hidden=1) for name in shown]
    yield Claim(LOOP, "true number, k-means is right in {}, {}, {}, {} and {} of", tuple(best))
    (whole,) = rows("loop_shares", set="all")
    yield Claim(LOOP, "{} of {} intervals of group shares held",
                (float(whole["held"]), float(whole["group_shares"])))  # fmt: skip
    yield Claim(LOOP, "off by {} on average (bias {}) and that of known rows by {}, over {} sent",
                tuple(float(whole[key]) for key in ("error_in_group", "bias_in_group",
                                                    "error_in_known", "sentences")))  # fmt: skip
    titles = {"digits": "digits, two hidden", "satimage": "satimage, two hidden",
              "segment": "segment, two hidden", "breast_cancer": "breast cancer, one hidden",
              "wine": "wine, one hidden"}  # fmt: skip
    for name, title in titles.items():
        (row,) = rows("loop_loop", set=name)
        values = [float(row[f"{stage}{part}"]) for stage in ("before", "audit", "after")
                  for part in ("", "_se")]  # fmt: skip
        yield Claim(LOOP, f"| {title} | {{}} ± {{}} | {{}} ± {{}} | {{}} ± {{}} |", tuple(values))
        (row,) = rows("loop_weights", set=name)
        values = [float(row[f"{way}{part}"]) for way in ("promoted", "weighted", "even", "alone")
                  for part in ("", "_se", "_held")]  # fmt: skip
        line = f"| {name.replace('_', ' ')} | {' | '.join(['{} ± {} ({})'] * 4)} |"
        yield Claim(LOOP, line, tuple(values))
    yield Claim(
        LOOP, "`explain` takes {} times the CPU time", (cell("loop_time", "ratio", rows=2000),)
    )


def monitor() -> Iterator[Claim]:
    """How often the tests of monitor fire."""
    changes = {
        "none": "nothing", "a known share by 5 points": "known share, 5 points",
        "a known share by 10 points": "known share, 10 points",
        "the unseen share by 5 points": "unseen share, 5 points",
        "the unseen share by 10 points": "unseen share, 10 points",
    }  # fmt: skip
    for title, change in changes.items():
        found = rows("monitor", reference="first window", change=change)
        total = sum(float(row["windows"]) for row in found)
        shares = tuple(sum(float(row[test]) * float(row["windows"]) for row in found) / total
                       for test in ("any_change", "unseen"))  # fmt: skip
        yield Claim(MONITOR, f"| {title} | {{}} | {{}} |", shares)


def inputs() -> Iterator[Claim]:
    """Single cells, scores of classifiers, queries."""
    asked = record("inputs_text")
    # The page says so in words.
    assert {one["verdict"] for one in asked.values() if isinstance(one, dict)} == {"moved"}
    many, few = (asked[f"{rows} rows an intent"] for rows in (100, 20))
    yield Claim("docs/case_queries.md", "among the {} test queries they are {}.",
                (asked["new_rows"], asked["truth"]))  # fmt: skip
    said = tuple(one[key] for one in (many, few) for key in ("unseen", "low", "high"))
    text = "the answer is {} ({} to {}); with 20 it is {} ({} to {})."
    yield Claim("docs/case_queries.md", text, said)
    gas = record("gas")
    alone, hidden = [one for one in gas if one["case"] == "within batch 2"]
    yield Claim("docs/case_gas.md", "{} ({} to {}, where {} are of a gas too rare to learn), and "
                "{} ({} to {}) where ethylene is hidden and makes {}.",
                (alone["unseen"], *alone["interval"], alone["truth"],
                 hidden["unseen"], *hidden["interval"], hidden["truth"]))  # fmt: skip
    memory = record("inputs_memory")
    used = memory["npy, 20000 rows used"]
    yield Claim(EMBEDDINGS, "a file of {} MB, and 20,000 new ones (`benchmarks/inputs.py memory`): "
                "the command takes {} CPU-seconds and {} MB at most, {} times the file",
                (memory["file_mb"], used["cpu_s"], used["mb"], used["mb_of_file"]))  # fmt: skip
    few = memory["npy, 5000 rows used"]
    lists = tuple(memory[f"{kind}, 20000 rows used"]["mb"] for kind in ("parquet", "feather"))
    yield Claim(EMBEDDINGS, "{} CPU-seconds and {} MB with `--rows 5000`. As lists in Parquet or "
                "Feather the rows take {} or {} MB.",
                (few["cpu_s"], few["mb"], *lists))  # fmt: skip
    cells = record("inputs_cells")
    for kind, found in cells.items():
        values = tuple(found[key] for key in ("truth", "unseen", "low", "high"))
        yield Claim(CELLS, f"| {kind} | {{}} | {{}} | {{}} to {{}} |", values)
    # The page says so in words.
    above = {kind for kind, found in cells.items() if found["unseen"] > 0}
    assert above == {"CD14+ Monocyte", "CD19+ B", "Dendritic"}
    assert {kind for kind, found in cells.items() if found["low"] > 0} == {"Dendritic"}
    assert all(one["low"] <= one["truth"] <= one["high"] for one in cells.values())


def card() -> Iterator[Claim]:
    """Seconds and shares of the peak on one graphics card; the median of the runs."""
    found = record("gpu")
    few, labels = found["against the CPU"], found["predict"]
    lines = {
        "1,024 landmarks; rows on the card | 1,000,000 |": found["grid"]["seconds"],
        "2,048 landmarks | 4,000,000 |": found["large grid"]["seconds"],
        "drawn | 1,000,000 + 1,000,000 |": found["estimate of drawn rows"]["seconds"],
        "`max_rows=None` | 1,000,000 + 1,000,000 |": found["estimate of all rows"]["seconds"],
        "rows on the host | 10,000,000 |": labels["classifier"],
        "`RejectionKernel.predict`, the same | 10,000,000 |": labels["RejectionKernel"],
        "50 columns | 100,000 |": labels["RejectionClassifier, 100,000 rows"],
    }
    for line, runs in lines.items():
        yield Claim(GPU, f"{line} {{}} |", (median(runs),))
    times = few["cuda"]["seconds"], few["cpu"]["seconds"]
    yield Claim(GPU, "| 100,000 | {}; NumPy, one thread: {} |", times)
    stages = {name: one["share_of_peak"] for name, one in found["grid"]["stages"].items()}
    for line, stage in (("design", "product"), ("transposed design", "transposed")):
        shares = tuple(stages[f"{stage}, {columns}"] for columns in (24, 12, 3, 1))
        yield Claim(GPU, f"| {line} times 24, 12, 3, 1 columns | {{}}, {{}}, {{}}, {{}} |", shares)
    yield Claim(GPU, "| logistic function | {} |", (stages["sigmoid"],))
    yield Claim(GPU, "three passes | {} |", (stages["fill"],))
    machine = found["machine"]
    yield Claim(GPU, "at the rate of a plain copy, {} TB/s, or its operations at that of a large "
                "product, {} TFLOP/s,",
                (machine["copy_TB_per_s"], machine["float32_TFLOP_per_s"]))  # fmt: skip
    small = stages["contract"], stages["cholesky"], stages["solve"]
    yield Claim(GPU, "its application | {}; {}; {} |", small)


def scale() -> Iterator[Claim]:
    """What a full pass buys and costs."""
    for row in table("scale_gain"):
        names = ("error", "error_se", "width", "coverage", "coverage_se")
        text = f"| `{row['method']}` | {row['counted']} | {{}} ± {{}} | {{}} | {{}} ± {{}} |"
        yield Claim("docs/scale.md", text, tuple(float(row[name]) for name in names))
    for row in table("scale_pass"):
        names = ("rank", "pass_cpu_s", "bare_cpu_s", "pass_peak_mb", "fit_peak_mb")
        text = f"| {int(row['rows']):,} | {{}} | {{}} | {{}} | {{}} MB | {{}} MB |"
        yield Claim("docs/scale.md", text, tuple(float(row[name]) for name in names))


CLAIMS = [
    claim
    for source in (paper, ablation, shift, calibration, skewed, demo, peers, coverage, rules,
                   head_to_head, loop, monitor, inputs, card, scale, *drift_claims.SOURCES,
                   *benchmark_claims.SOURCES)
    for claim in source()
]  # fmt: skip
