"""Figures of the pages on other tools, the loop, monitoring, kinds of data, cards and full passes.

One function per benchmark reads its results and yields claims. A claim quotes the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median

from committed import ROOT, average, cell, record, rows, table
from figures import Claim

COMPARISON, GPU, SCALE = "docs/comparison.md", "docs/gpu.md", "docs/scale.md"
INSTALL = "docs/install.md"
LOOP, MONITOR, EMBEDDINGS = "docs/loop.md", "docs/monitor.md", "docs/embeddings.md"
CELLS = "docs/case_cells.md"

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
    yield from _draws(results)
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


def _draws(results: str) -> Iterator[Claim]:
    """In how many of the draws with 30% unseen the answer is not sure."""

    def of(quantity: str, data: str) -> list[float]:
        place = {"tool": "unseen", "setting": "30% unseen", "quantity": quantity, "data": data}
        return [float(row["value"]) for row in rows(results, **place)]

    digits, satimage = of("says unclear", "digits"), of("says unclear", "satimage")
    shares, lows = of("unseen share", "satimage"), of("unseen low", "satimage")
    assert (sum(digits), sum(satimage)) == (0, 1), "the pages say that one draw is unclear"
    assert [share for share, said in zip(shares, satimage, strict=True) if said] == [0.0]
    assert min(of("unseen low", "digits")) > 0.01
    yield Claim("README.md", "In one of the {} draws with 30% unseen",
                (len(digits) + len(satimage),))  # fmt: skip
    yield Claim(COMPARISON, "is right about the share in {} of {} draws; in one it says",
                (len(satimage) - 1, len(satimage)))  # fmt: skip
    yield Claim(COMPARISON, "In {} of {} draws, this one among them, the interval begins",
                (sum(low < 0.01 for low in lows), len(lows)))  # fmt: skip


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

    def fired(test: str, change: str, reference: str) -> tuple[int, int]:
        found = rows("monitor", reference=reference, change=change)
        windows = [float(row["windows"]) for row in found]
        alarms = [float(row[test]) * n for row, n in zip(found, windows, strict=True)]
        return round(sum(alarms)), round(sum(windows))

    false = fired("unseen", "nothing", "first window")
    yield Claim(MONITOR, "The 6% are {} windows of {}, with", false)
    known, n_known = fired("any_change", "known share, 10 points", "training")
    unseen, n_unseen = fired("unseen", "unseen share, 10 points", "training")
    assert known == 0, "the page says that none was found"
    yield Claim(MONITOR, "none of {} changes of a known share by 10 points, and {} of {} of the "
                "unseen share.", (n_known, unseen, n_unseen))  # fmt: skip


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
    apart = [one for one in gas if one["case"] != "within batch 2"]
    # The page says so in words, and so does the page on cells below.
    assert {tuple(one["interval"]) for one in apart} == {(0.0, 1.0)}
    assert [one["verdict"] for one in apart].count("unclear") == 2
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
    few_rows = memory["npy, 5000 rows used"]
    lists = tuple(memory[f"{kind}, 20000 rows used"]["mb"] for kind in ("parquet", "feather"))
    yield Claim(EMBEDDINGS, "{} CPU-seconds and {} MB with `--rows 5000`. As lists in Parquet or "
                "Feather the rows take {} or {} MB.",
                (few_rows["cpu_s"], few_rows["mb"], *lists))  # fmt: skip
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
        yield Claim(SCALE, text, tuple(float(row[name]) for name in names))
    for row in table("scale_pass"):
        names = ("rank", "pass_cpu_s", "bare_cpu_s", "pass_peak_mb", "fit_peak_mb")
        text = f"| {int(row['rows']):,} | {{}} | {{}} | {{}} | {{}} MB | {{}} MB |"
        yield Claim(SCALE, text, tuple(float(row[name]) for name in names))
    remark = (ROOT / "benchmarks/results/scale_memory.csv").read_text("utf-8").partition("\n")[0]
    seconds, megabytes, *_ = map(float, re.findall(r"\d+\.?\d*", remark))
    yield Claim(SCALE, "| 100,000,000 | 347 at most | {} | | {} MB | |", (seconds, megabytes))
    hours = tuple(cell("scale_predicted", "of_which_drawing", rows=f"1e+{power:02}", workers=16)
                  for power in (9, 11))  # fmt: skip
    yield Claim(SCALE, "takes {} minutes for 10^9 and {} hours for 10^11 rows.",
                (60 * hours[0], hours[1]))  # fmt: skip


def browser() -> Iterator[Claim]:
    """Pages run in a browser."""
    found = record("pyodide")
    for name, page in found["pages"].items():
        assert page["state"] == "done", "the page says that it runs"
        right = page["outputs"] - len(page["differing"])
        yield Claim(INSTALL, f"]({name}.md) | {{}} of {{}} | {{}} | {{}} |",
                    (right, page["outputs"], page["run_s"], page["plain_s"]))  # fmt: skip
    yield Claim(INSTALL, "loads {} MB from", (found["megabytes"],))


SOURCES = (head_to_head, loop, monitor, inputs, card, scale, browser)
