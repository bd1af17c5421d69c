"""After the number: how many groups, their intervals and sentences, audits, the whole loop.

    python benchmarks/loop.py audit                 3,000 simulated audits; a minute
    python benchmarks/loop.py groups [--data DIR]   number of groups, shares, sentences
    python benchmarks/loop.py oracle [--data DIR]   hidden rows alone, number of classes given
    python benchmarks/loop.py loop                  the whole loop, 60 labels from the truth (or
                                                    a third of the rows, where these are fewer)
    python benchmarks/loop.py weights               promoted rows as they are, weighted against
                                                    the uneven draw, drawn evenly instead,
                                                    and without whole groups
    python benchmarks/loop.py time                  explain against an estimate, 2,000 rows

The sets are those of scikit-learn and of ``unseen.datasets``. DIR may hold clinc150.csv.gz (text,
intent, split) of 150 intents, of which twelve are taken, and domains.json of the same publisher,
by which ten domains have 15 intents each. Texts become 60 components of their TF-IDF matrix, of
unit length. Nothing is tuned on these numbers: the rule for the number of groups was chosen on
other draws of these sets, on six further sets and on made ones, and the intervals of audits on
other simulated audits.
"""

from __future__ import annotations

from _common import RESULTS, cpu_seconds, each, write_csv  # isort: skip

import argparse
import csv
import gzip
import json
import warnings
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import expit, logit
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import Normalizer, StandardScaler

import unseen
from unseen.datasets import load_dataset, make_waveform
from unseen.loop.sheet import draw_probabilities, draw_rows
from unseen.loop.strata import class_strata, share_interval

CASES = ("right", "unsure", "drift", "hidden", "wrong", "copies")
MOST = 8


# Audit: three classes, one of them new, and models that are right, unsure or wrong.


def simulated_case(rng: np.random.RandomState, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Class of every new row (2 is new), and a model's probabilities of the three classes."""
    m = int(rng.choice([200, 1000, 5000]))
    new = float(rng.choice([0.0, 0.02, 0.1, 0.3, 0.7]))
    truth = rng.choice(3, size=m, p=[0.7 * (1 - new), 0.3 * (1 - new), new])
    if kind == "copies":  # every row ten times, as frames of one film
        truth = np.repeat(truth[: m // 10], 10)
    sharp = 1.0 if kind == "unsure" else 2.5  # right in 6 and in 9 of 10 rows
    logits = rng.normal(size=(len(truth), 3))
    says = (truth + 1) % 3 if kind == "wrong" else truth
    logits[np.arange(len(truth)), says] += sharp
    logits[:, 2] += {"drift": 8.0, "hidden": -8.0}.get(kind, 0.0)
    posteriors = np.exp(logits)
    return truth, posteriors / posteriors.sum(axis=1, keepdims=True)


def uniform_width(truth: np.ndarray, n_rows: int, rng: np.random.RandomState) -> float:
    """Width of the interval from a uniform sample alone."""
    rows = rng.choice(len(truth), n_rows, replace=False)
    chance, nobody = np.full(n_rows, n_rows / len(truth)), np.zeros(n_rows, bool)
    _, lower, upper = share_interval(class_strata(truth[rows] == 2, nobody, chance, 0.0))
    return upper - lower


def audits(n_cases: int = 3000) -> None:
    rng, found = np.random.RandomState(20), []
    for place in range(n_cases):
        kind, n_rows = CASES[place % len(CASES)], int(rng.choice([30, 60, 120]))
        truth, posteriors = simulated_case(rng, kind)
        groups = np.zeros(len(truth), dtype=int)
        chances = draw_probabilities(posteriors, groups, n_rows)
        rows = draw_rows(chances, rng)
        names = np.array(["a", "b", "unseen"])
        audit = unseen.audit(
            names[posteriors.argmax(axis=1)], rows, names[truth[rows]], chances[rows],
            known=["a", "b"],
        )  # fmt: skip
        shares = np.bincount(truth, minlength=3) / len(truth)
        ends = audit.corrected.intervals
        held = (ends[:, 0] - 1e-9 <= shares) & (shares <= ends[:, 1] + 1e-9)
        found.append({
            "kind": kind, "labels": n_rows, "rows": len(truth), "unseen": round(shares[2], 4),
            "held_unseen": int(held[2]), "held_known": round(held[:2].mean(), 2),
            "width": round(ends[2, 1] - ends[2, 0], 4),
            "width_uniform_half": round(uniform_width(truth, n_rows // 2, rng), 4),
            "width_uniform_all": round(uniform_width(truth, n_rows, rng), 4),
        })  # fmt: skip
    summary = []
    for kind in (*CASES, "all"):
        mine = [one for one in found if kind in (one["kind"], "all")]
        mean = {name: np.mean([one[name] for one in mine]) for name in list(mine[0])[4:]}
        # An interval that begins at 0 holds a share of 0 whatever its other end.
        mean["held_if_any"] = np.mean([one["held_unseen"] for one in mine if one["unseen"] > 0])
        summary.append(
            {"kind": kind, "cases": len(mine), **{k: f"{v:.3f}" for k, v in mean.items()}}
        )
        print(*summary[-1].values(), sep="\t")
    write_csv("loop_audit.csv", summary, "coverage and width of 95% intervals of the unseen share")


# Groups: classes are hidden, a rule flags rows, and ways to find the number of groups compete.


def scaled(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    X = np.asarray(X, dtype=float)
    return StandardScaler().fit_transform(X[:, X.std(axis=0) > 0]), np.asarray(y)


def from_text(texts: list[str], labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    words = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    parts = TruncatedSVD(60, random_state=0).fit_transform(words)
    return Normalizer().fit_transform(parts), labels


def clinc(folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Twelve intents, and the ten domains where a file says which intents make them."""
    with gzip.open(folder / "clinc150.csv.gz", "rt", encoding="utf-8") as file:
        lines = [one for one in csv.DictReader(file) if not one["split"].startswith("oos")]
    texts, intents = [one["text"] for one in lines], np.array([one["intent"] for one in lines])
    chosen = np.random.RandomState(0).permutation(np.unique(intents))[:12]
    mine = np.flatnonzero(np.isin(intents, chosen))
    found = {"clinc150 intents": from_text([texts[row] for row in mine], intents[mine])}
    if (folder / "domains.json").exists():
        domains = json.loads((folder / "domains.json").read_text())
        domain_of = {intent: name for name, some in domains.items() for intent in some}
        names = np.array([domain_of[intent] for intent in intents])
        found["clinc150 domains"] = from_text(texts, names)
    return found


def data_sets(folder: Path | None = None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    satimage, segment = load_dataset("satimage"), load_dataset("segment")
    sets = {
        "digits": load_digits(return_X_y=True),
        "satimage": scaled(satimage.X, satimage.y),
        "segment": scaled(segment.X, segment.y),
        "waveform": scaled(*make_waveform(5000, random_state=0)),
        "wine": scaled(*load_wine(return_X_y=True)),
        "iris": load_iris(return_X_y=True),
        "breast_cancer": scaled(*load_breast_cancer(return_X_y=True)),
    }
    return sets if folder is None else sets | clinc(folder)


def problem(X, y, n_hidden: int, rng: np.random.RandomState, rows: int = 50, even: bool = True):
    """Labelled rows, new rows with the truth, and held-out rows, as many of each class if even."""
    hidden = rng.choice(np.unique(y), n_hidden, replace=False)
    train, new, other = [], [], []
    for label in np.unique(y):
        mine = rng.permutation(np.flatnonzero(y == label))
        if label in hidden:
            half = min(2 * rows, len(mine)) // 2
            new.append(mine[:half])
            other.append(mine[half:])
        else:
            part = min(rows, len(mine) // 3)
            train.append(mine[:part])
            new.append(mine[part : 2 * part])
            other.append(mine[2 * part :])
    least = min(map(len, other)) if even else len(y)
    train, new, other = map(np.concatenate, (train, new, [rest[:least] for rest in other]))
    return (X[train], y[train]), (X[new], y[new]), (X[other], y[other]), hidden


def hungarian(truth: np.ndarray, groups: np.ndarray) -> tuple[float, dict[int, object]]:
    names, codes = np.unique(truth, return_inverse=True)
    numbers, places = np.unique(groups, return_inverse=True)
    table = np.zeros((len(names), len(numbers)))
    np.add.at(table, (codes, places), 1)
    rows, columns = linear_sum_assignment(-table)
    pairs = {int(numbers[c]): names[r] for r, c in zip(rows, columns, strict=True)}
    return float(table[rows, columns].sum() / len(truth)), pairs


def other_rules(X: np.ndarray) -> dict[str, np.ndarray]:
    """Groups of flagged rows by HDBSCAN, silhouette and BIC."""
    fits = [KMeans(k, n_init=4, random_state=0).fit(X).labels_ for k in range(1, MOST + 1)]
    best = 1 + int(np.argmax([silhouette_score(X, labels) for labels in fits[1:]]))
    parts = PCA(min(10, X.shape[1])).fit_transform(X)
    mixtures = [
        GaussianMixture(k, random_state=0, reg_covar=1e-3 * parts.var()).fit(parts)
        for k in range(1, MOST + 1)
    ]
    fewest = mixtures[int(np.argmin([one.bic(parts) for one in mixtures]))]
    return {
        "HDBSCAN": HDBSCAN(min_cluster_size=max(5, len(X) // 15)).fit(X).labels_,
        "silhouette": fits[best],
        "BIC": fewest.predict(parts),
    }


class KeptUnits(unseen.KnownWidth):
    """The rule of ``explain``; its ``units`` are those in which the last groups were made."""

    def group(self, *given):
        found = super().group(*given)
        object.__setattr__(self, "units", found.units)
        return found


def held_out_groups(rule, explanation, units, X_new, X_other) -> np.ndarray:
    """Group of rows that nobody has seen: the nearest mean, where they are called unseen.

    ``explain`` shifts the probabilities, so that their mean is the share; so does this. The
    nearest in the units in which groups were made.
    """
    mine, given = (
        logit(np.clip(one, 1e-6, 1 - 1e-6))
        for one in (explanation.weights, rule.out_of_fold_.new[:, -1])
    )
    cut = expit(-np.median(mine - given))
    new, other = units.of(X_new), units.of(X_other)
    means = [new[explanation.group_of_row == group.number].mean(0) for group in explanation.groups]
    nearest = ((other[:, None] - np.array(means)) ** 2).sum(axis=2).argmin(axis=1) + 1
    return np.where(rule.predict_proba(X_other)[:, -1] >= cut, nearest, 0)


def group_draw(X, y, n_hidden: int, seed: int) -> tuple[list[dict], list[dict], list[dict]]:
    rng = np.random.RandomState(seed)
    (X_in, y_in), (X_new, truth), (X_other, y_other), hidden = problem(X, y, n_hidden, rng)
    estimate = unseen.estimate(X_in, y_in, X_new, confidence=0.95, random_state=seed)
    rule = unseen.RejectionKernel(random_state=seed).fit(X_in, y_in, X_new, estimate)
    way = KeptUnits()
    found = unseen.explain(rule, X_in, y_in, X_new, groups=way, random_state=seed)
    is_new = np.isin(truth, hidden)
    flagged = found.weights >= 0.5
    if flagged.sum() < 20 or (flagged & is_new).sum() < 10:
        return [], [], []
    rules = {"known width": found.group_of_row[flagged], **other_rules(X_new[flagged])}
    counts, shares, sentences = [], [], []
    for name, groups in rules.items():
        kept = is_new[flagged] & (groups >= 0)
        right, _ = hungarian(truth[flagged][kept], groups[kept]) if kept.any() else (0.0, {})
        right *= kept.sum() / is_new[flagged].sum()  # rows of no group are not found
        sizes = Counter(groups[groups >= 0].tolist())
        counts.append({"rule": name, "k": len(sizes), "hidden": n_hidden, "accuracy": right})
    if len(found.groups) == n_hidden:
        _, pairs = hungarian(truth[is_new & flagged], found.group_of_row[is_new & flagged])
        for group in found.groups:
            if group.number in pairs:
                share = np.mean(truth == pairs[group.number])
                shares.append(
                    {"held": group.low <= share <= group.high, "width": group.high - group.low}
                )
    others = held_out_groups(rule, found, way.units, X_new, X_other)
    known = X_other[~np.isin(y_other, hidden)]
    for group in found.groups:
        mine = X_other[others == group.number]
        if group.sentence is not None and len(mine) >= 20:
            said = group.sentence
            sentences.append({
                "in_group": said.in_group - said.holds(mine).mean(),
                "in_known": said.in_known - said.holds(known).mean(),
            })  # fmt: skip
    return counts, shares, sentences


def groups(folder: Path | None, n_draws: int = 20) -> None:
    lines, all_shares, all_sentences = [], [], []
    for name, (X, y) in data_sets(folder).items():
        most = max(1, min(4, len(np.unique(y)) - 2))
        counts: list[dict] = []
        n_mine = n_draws if most > 1 else n_draws // 2
        draws = [(X, y, 1 + draw % most, 100 + draw) for draw in range(n_mine)]
        for found in each(group_draw, draws):
            counts += found[0]
            all_shares += [{"set": name, **one} for one in found[1]]
            all_sentences += [{"set": name, **one} for one in found[2]]
        for rule in ("known width", "HDBSCAN", "silhouette", "BIC"):
            mine = [one for one in counts if one["rule"] == rule]
            gaps = np.array([one["k"] - one["hidden"] for one in mine])
            lines.append({
                "set": name, "rule": rule, "draws": len(mine),
                "error": f"{abs(gaps).mean():.2f}", "bias": f"{gaps.mean():+.2f}",
                "accuracy": f"{np.mean([one['accuracy'] for one in mine]):.3f}",
                "standard_error": f"{abs(gaps).std() / np.sqrt(len(mine)):.2f}",
            })  # fmt: skip
            print(*lines[-1].values(), sep="\t", flush=True)
    write_csv(
        "loop_groups.csv", lines, "error and bias of the number of groups; Hungarian accuracy"
    )
    report = []
    for name in (*dict.fromkeys(one["set"] for one in all_sentences), "all"):
        shares = [one for one in all_shares if name in (one["set"], "all")]
        said = [one for one in all_sentences if name in (one["set"], "all")]
        gaps = np.array([[one["in_group"], one["in_known"]] for one in said])
        report.append({
            "set": name, "group_shares": len(shares),
            "held": f"{np.mean([one['held'] for one in shares]):.3f}" if shares else "",
            "sentences": len(said),
            "bias_in_group": f"{gaps[:, 0].mean():+.3f}",
            "bias_in_known": f"{gaps[:, 1].mean():+.3f}",
            "error_in_group": f"{abs(gaps[:, 0]).mean():.3f}",
            "error_in_known": f"{abs(gaps[:, 1]).mean():.3f}",
        })  # fmt: skip
        print(*report[-1].items(), flush=True)
    write_csv(
        "loop_shares.csv", report, "95% intervals of group shares; sentences on held-out rows"
    )


def oracles(folder: Path | None, n_draws: int = 20) -> None:
    """What k-means can reach on these draws: it has the hidden rows alone, and their number."""
    lines = []
    for name, (X, y) in data_sets(folder).items():
        most, found = max(1, min(4, len(np.unique(y)) - 2)), []
        for n_hidden, seed in [(1 + draw % most, 100 + draw) for draw in range(n_draws)]:
            _, (X_new, truth), _, hidden = problem(X, y, n_hidden, np.random.RandomState(seed))
            mine = np.isin(truth, hidden)
            labels = KMeans(n_hidden, n_init=10, random_state=0).fit(X_new[mine]).labels_
            found.append((n_hidden, hungarian(truth[mine], labels)[0]))
        for least in {1, min(2, most)}:
            right = [value for n_hidden, value in found if n_hidden >= least]
            lines.append({
                "set": name, "least_hidden": least, "draws": len(right),
                "accuracy": f"{np.mean(right):.3f}",
                "standard_error": f"{np.std(right) / np.sqrt(len(right)):.3f}",
            })  # fmt: skip
            print(*lines[-1].values(), sep="\t", flush=True)
    write_csv("loop_oracle.csv", lines, "Hungarian accuracy of k-means with the true number")


# The loop: estimate, explain, label 60 rows by the truth, audit, promote, estimate again.


def total_error(estimate, truth: np.ndarray, extra: dict[object, float] | None = None) -> float:
    """Total variation over all true classes; unseen mass without a name belongs to none of them."""
    given = dict(zip(estimate.classes, estimate.proportions, strict=True)) | (extra or {})
    rest = estimate.unseen - sum((extra or {}).values())
    gaps = [
        abs(given.get(label, 0.0) - np.mean(truth == label)) for label in np.unique(truth).tolist()
    ]
    return float((sum(gaps) + abs(rest)) / 2)


def whole_groups(found, rows, labels, known) -> dict[int, object]:
    """Groups that people would name as a whole: of three labels or more, nine in ten agree."""
    names = {}
    for group in found.groups:
        mine = [
            one
            for row, one in zip(rows, labels, strict=True)
            if found.group_of_row[row] == group.number
        ]
        if len(mine) >= 3:
            name, count = Counter(mine).most_common(1)[0]
            if count >= 0.9 * len(mine) and name not in known:
                names[group.number] = name
    return names


def members() -> list[unseen.RejectionStack | unseen.RejectionKernel]:
    """The members of the rule of ``unseen explain``."""
    return [unseen.RejectionStack(), unseen.RejectionKernel()]


def first_round(X, y, seed: int) -> SimpleNamespace:
    """An estimate, groups, and 60 rows (or a third of them) labelled by the truth."""
    rng = np.random.RandomState(seed)
    n_hidden = max(1, min(2, len(np.unique(y)) - 2))
    y = np.array([f"c{label}" for label in y])
    (X_in, y_in), (X_new, truth), other, hidden = problem(X, y, n_hidden, rng, 80, even=False)
    before = unseen.estimate(X_in, y_in, X_new, confidence=0.95, random_state=seed)
    rule = unseen.RejectionClassifier(members(), random_state=seed).fit(X_in, y_in, X_new, before)
    found = unseen.explain(rule, X_in, y_in, X_new, random_state=seed)
    n_labels = min(60, len(X_new) // 3)
    sheet = unseen.draw_sheet(rule, n_labels, groups=found.group_of_row, random_state=seed)
    labels, known = truth[sheet.rows].tolist(), np.unique(y_in).tolist()
    named = whole_groups(found, sheet.rows, labels, known)
    return SimpleNamespace(
        rows=(X_in, y_in, X_new), truth=truth, other=other, hidden=hidden, before=before,
        rule=rule, found=found, sheet=sheet, labels=labels, named=named,
    )  # fmt: skip


def promoted(first: SimpleNamespace, spread: dict[int, object]) -> unseen.Promotion | None:
    """The labelled rows, and those of groups with a name; None where no name has enough rows."""
    try:
        return unseen.promote(
            first.sheet.rows, first.labels, len(first.truth), known=first.before.classes,
            probabilities=first.sheet.probabilities, spread=spread, explanation=first.found,
        )  # fmt: skip
    except ValueError:  # nothing could be promoted: the first estimate stays
        return None


def second_round(promotion, X, y, rest, truth: np.ndarray, seed: int) -> dict[str, float]:
    """Error of all shares after the promotion, and how many intervals of classes hold."""
    again = unseen.estimate(X, y, rest, confidence=0.95, random_state=seed)
    after = promotion.combine(again)
    held = [
        low <= np.mean(truth == label) <= high
        for label, (low, high) in zip(after.classes, after.intervals[:-1], strict=True)
    ]
    return {"after": total_error(after, truth), "held": float(np.mean(held))}


def one_loop(X, y, seed: int) -> dict[str, float]:
    first = first_round(X, y, seed)
    audit = unseen.audit(
        first.rule.predict_new(), first.sheet.rows, first.labels, first.sheet.probabilities,
        estimate=first.before,
    )  # fmt: skip
    named = {name: share for name, (share, *_) in audit.named.items()}
    result = {
        "before": total_error(first.before, first.truth),
        "audit": total_error(audit.corrected, first.truth, named),
        "named": len(first.named),
        "hidden": len(first.hidden),
    }
    promotion = promoted(first, first.named)
    if promotion is None:
        return {**result, "after": result["before"]}
    grown = promotion.apply(*first.rows)
    return {**result, **second_round(promotion, *grown, first.truth, seed)}


def one_weighing(X, y, seed: int) -> dict[str, dict[str, float]]:
    """The second round with rows of new classes as promoted, resampled by weight, drawn evenly.

    And with the rows that people labelled alone, without whole groups.
    """
    first, rng = first_round(X, y, seed), np.random.RandomState(seed)
    promotion, alone = promoted(first, first.named), promoted(first, {})
    if promotion is None or alone is None:
        return {}
    grown, y_grown, rest = promotion.apply(*first.rows)
    weighted, even = grown.copy(), grown.copy()
    X_other, y_other = first.other
    for label in set(promotion.labels) & set(first.hidden):
        mine = np.flatnonzero(promotion.labels == label)
        chance = promotion.weights[mine] / promotion.weights[mine].sum()
        places, drawn = len(first.rows[0]) + mine, rng.choice(mine, len(mine), p=chance)
        weighted[places] = grown[len(first.rows[0]) + drawn]
        pool = rng.permutation(np.flatnonzero(y_other == label))[: len(mine)]
        even[places[: len(pool)]] = X_other[pool]
    found = {
        name: second_round(promotion, rows, y_grown, rest, first.truth, seed)
        for name, rows in (("promoted", grown), ("weighted", weighted), ("even", even))
    }
    return {**found, "alone": second_round(alone, *alone.apply(*first.rows), first.truth, seed)}


def weighings(n_draws: int = 8) -> None:
    sets, lines = data_sets(), []
    for name in ("digits", "satimage", "segment", "breast_cancer", "wine"):
        found = [one_weighing(*sets[name], 400 + draw) for draw in range(n_draws)]
        found = [one for one in found if one]
        line: dict[str, object] = {"set": name, "draws": len(found)}
        for way in ("promoted", "weighted", "even", "alone"):
            values = np.array([one[way]["after"] for one in found])
            line |= {
                way: f"{values.mean():.3f}",
                f"{way}_se": f"{values.std() / np.sqrt(len(values)):.3f}",
                f"{way}_held": f"{np.mean([one[way]['held'] for one in found]):.3f}",
            }
        lines.append(line)
        print(*line.items(), flush=True)
    write_csv("loop_weights.csv", lines, "total variation after promote; intervals that hold")


def loops(n_draws: int = 5) -> None:
    sets, lines = data_sets(), []
    for name in ("digits", "satimage", "segment", "breast_cancer", "wine"):
        found = [one_loop(*sets[name], 300 + draw) for draw in range(n_draws)]
        line = {"set": name, "draws": len(found)}
        for column in ("before", "audit", "after"):
            values = np.array([one[column] for one in found])
            line |= {
                column: f"{values.mean():.3f}",
                f"{column}_se": f"{values.std() / np.sqrt(len(values)):.3f}",
            }
        line["held_after"] = f"{np.mean([one['held'] for one in found if 'held' in one]):.3f}"
        line["named"] = sum(one["named"] for one in found)
        line["hidden"] = sum(one["hidden"] for one in found)
        lines.append(line)
        print(*line.items(), flush=True)
    write_csv("loop_loop.csv", lines, "total variation from the truth, before and after 60 labels")


def times() -> None:
    X, y = load_digits(return_X_y=True)
    rng = np.random.RandomState(0)
    X, y = np.vstack([X, X + rng.normal(0, 1, X.shape)]), np.tile(y, 2)
    known = rng.permutation(np.flatnonzero(y < 7))
    rows = np.r_[known[1000:1700], rng.permutation(np.flatnonzero(y >= 7))[:300]]
    X_in, y_in, X_new = X[known[:1000]], y[known[:1000]], X[rows]
    kept = {}

    def estimate() -> None:
        kept["estimate"] = unseen.estimate(X_in, y_in, X_new, confidence=0.95, random_state=0)

    def explain() -> None:
        estimate()
        rule = unseen.RejectionClassifier(members(), random_state=0).fit(
            X_in, y_in, X_new, kept["estimate"]
        )
        unseen.explain(rule, X_in, y_in, X_new, random_state=0)

    explain()  # pays for imports
    # In turn, as other work on the machine slows down neighbouring runs alike.
    runs = [(cpu_seconds(estimate), cpu_seconds(explain)) for _ in range(8)]
    first, second = map(min, zip(*runs, strict=True))
    line = {
        "rows": 2000,
        "estimate": f"{first:.2f}",
        "explain": f"{second:.2f}",
        "ratio": f"{second / first:.2f}",
    }
    print(line)
    write_csv("loop_time.csv", [line], "CPU seconds; explain holds the estimate")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=["audit", "groups", "oracle", "loop", "weights", "time"])
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    RESULTS.mkdir(exist_ok=True)
    {
        "audit": audits,
        "groups": lambda: groups(given.data),
        "oracle": lambda: oracles(given.data),
        "loop": loops,
        "weights": weighings,
        "time": times,
    }[given.what]()


if __name__ == "__main__":
    main()
