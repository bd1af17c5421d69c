"""Last stage: everything that was said in one csv file, and its means beside the truth.

    python collect.py WORK [logistic | forest]

Writes ``<classifier>.csv`` (one line for each number), ``<classifier>.md`` (means and standard
errors over the draws) and ``footprint.csv`` into ``results``.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from cases import SETTINGS

RESULTS = Path(__file__).parent / "results"
TOOLS = ("truth", "unseen", "nannyml", "evidently", "quapy", "pyod", "cleanlab")
ROWS = (
    ("the unseen share", "truth", "unseen share"),
    ("`unseen`: the unseen share", "unseen", "unseen share"),
    ("... its 95% interval, mean low end", "unseen", "unseen low"),
    ("... mean high end", "unseen", "unseen high"),
    ("... how often it holds the truth", "unseen", "interval holds the truth"),
    ("... probability that anything is unseen", "unseen", "probability of anything unseen"),
    ("... says that known classes moved", "unseen", "says moved"),
    ("... cannot say whether they moved", "unseen", "says unclear"),
    ("accuracy of the user's classifier", "truth", "accuracy"),
    ("NannyML: that accuracy (CBPE)", "NannyML", "accuracy"),
    ("... mean absolute error", "NannyML", "error of accuracy"),
    ("... chunks with an alert", "NannyML", "alerts on accuracy"),
    ("`unseen`: that accuracy (`open_set_risk`)", "unseen", "accuracy"),
    ("... mean absolute error", "unseen", "error of accuracy"),
    ("NannyML: AUROC of its domain classifier", "NannyML", "domain AUROC"),
    ("... alerts", "NannyML", "alerts on domain AUROC"),
    ("Evidently: share of columns called drifted", "Evidently", "drifted columns"),
    ("... data set called drifted", "Evidently", "data set called drifted"),
    ("... predictions called drifted", "Evidently", "predictions called drifted"),
    ("... its report, MB (first draw)", "Evidently", "report, MB"),
    ("QuaPy EMQ: total-variation error of the shares", "QuaPy EMQ", "error of shares"),
    ("QuaPy PACC: the same", "QuaPy PACC", "error of shares"),
    ("`unseen`: the same", "unseen", "error of shares"),
    ("PyOD KNN, its default contamination: rows flagged", "PyOD", "rows flagged"),
    ("... accuracy with flagged rows called unseen", "PyOD", "accuracy"),
    ("PyOD KNN in `RejectionThreshold`: rows flagged", "PyOD in unseen", "rows flagged"),
    ("... accuracy", "PyOD in unseen", "accuracy"),
    ("... accuracy as estimated without labels", "PyOD in unseen", "estimated accuracy"),
    ("cleanlab Datalab: rows flagged as outliers", "cleanlab", "rows flagged"),
    ("... accuracy with flagged rows called unseen", "cleanlab", "accuracy"),
    ("... rows called one sample", "cleanlab", "rows called one sample"),
)

Answer = dict[str, Any]
Values = dict[str, float]


def by_case(answers: Iterable[Answer]) -> dict[tuple, dict[str, Values]]:
    """Numbers by case, tool and quantity."""
    cases: dict[tuple, dict[str, Values]] = defaultdict(lambda: defaultdict(dict))
    for row in answers:
        place = row["data"], row["seed"], row["setting"]
        cases[place][row["tool"]][row["quantity"]] = row["value"]
    return cases


def judged(case: dict[str, Values]) -> Iterator[tuple[str, str, float]]:
    """What follows from an answer and the truth together: tool, quantity, value."""
    truth = case["truth"]
    known = [quantity for quantity in truth if quantity.startswith("share ")]
    for tool, said in case.items():
        if tool == "truth":
            continue
        if "accuracy" in said and tool in ("unseen", "NannyML"):
            yield tool, "error of accuracy", abs(said["accuracy"] - truth["accuracy"])
        if all(quantity in said for quantity in known):
            # A closed-set method says 0 to the unseen share.
            places = [*known, "unseen share"]
            off = sum(abs(said.get(place, 0.0) - truth[place]) for place in places)
            yield tool, "error of shares", off / 2
        if "unseen low" in said:
            inside = said["unseen low"] <= truth["unseen share"] <= said["unseen high"]
            yield tool, "interval holds the truth", float(inside)


def with_judgements(answers: list[Answer]) -> list[Answer]:
    """The answers, and after them how far they were off."""
    names = ("data", "seed", "setting")
    extra = [
        dict(zip(names, place, strict=True))
        | {"tool": tool, "quantity": quantity, "value": round(value, 5)}
        for place, case in by_case(answers).items()
        for tool, quantity, value in judged(case)
    ]
    return answers + extra


def cell(values: list[float]) -> str:
    """Mean and, where there are several, its standard error; how often it was stated, if less."""
    asked, values = len(values), [value for value in values if value == value]
    if not values:
        return "not stated" * bool(asked)
    error = f" ({stdev(values) / len(values) ** 0.5:.3f})" if max(values) > min(values) else ""
    few = f", stated in {len(values)} of {asked}" if len(values) < asked else ""
    return f"{mean(values):.3f}{error}{few}"


def table(answers: list[Answer], data: str) -> list[str]:
    """One data set: a line for each quantity, a column for each setting."""
    found: dict[tuple, list[float]] = defaultdict(list)
    for row in answers:
        if row["data"] == data:
            found[row["tool"], row["quantity"], row["setting"]].append(row["value"])
    n_seeds = len(found["truth", "accuracy", SETTINGS[0]])
    lines = [f"## {data}, {n_seeds} draws", ""]
    lines += [f"| | {' | '.join(SETTINGS)} |", "|---" * (1 + len(SETTINGS)) + "|"]
    for title, tool, quantity in ROWS:
        cells = [cell(found[tool, quantity, setting]) for setting in SETTINGS]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return [*lines, ""]


def write_csv(path: Path, rows: list[Answer]) -> None:
    """Rows that share their columns."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Collect, judge, write."""
    work, (classifier,) = Path(sys.argv[1]), sys.argv[2:] or ["logistic"]
    said = [row for tool in TOOLS for row in json.loads((work / f"{tool}.json").read_text())]
    answers = with_judgements(said)
    sizes = [json.loads(path.read_text()) for path in sorted(work.glob("*.footprint.json"))]
    RESULTS.mkdir(exist_ok=True)
    write_csv(RESULTS / f"{classifier}.csv", answers)
    write_csv(RESULTS / "footprint.csv", sizes)
    lines = [f"# Head to head, {classifier}: means over the draws (standard errors)", ""]
    lines += ["Written by `collect.py`; do not edit.", ""]
    for data in sorted({row["data"] for row in answers}):
        lines += table(answers, data)
    lines += ["## What is installed", "", "| | version | packages | MB |", "|---|---|---|---|"]
    lines += [
        f"| {row['tool']} | {row['version']} | {row['packages']} | {row['megabytes']} |"
        for row in sizes
    ]
    (RESULTS / f"{classifier}.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
