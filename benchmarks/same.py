"""Same numbers: what two checkouts find on bundled sets, and how far they differ.

    git worktree add ../before main
    python benchmarks/same.py ../before/src src            three sets; a few minutes
    python benchmarks/same.py ../before/src src thyroid    one set; half a minute

For a change that should change no number: it prints the largest difference of each method and set,
and ends with code 1 where one is above the tolerance. Each checkout is read by a process of its
own, with the same rows and seeds. Compared are all methods and rules, estimates of spoilt copies of
the new rows, groups, a control, windows, groups of unseen rows, an audit, and mixture proportions.
A method that only one checkout has is named and not compared.
"""

from __future__ import annotations

from _common import ROOT  # isort: skip

import argparse
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SETS = ("thyroid", "ionosphere", "segment")
ROWS = 300


def samples(name):
    """Labelled rows without the set's unobserved class, and new rows with it."""
    from unseen.datasets import load_dataset

    data = load_dataset(name)
    rows = np.random.default_rng(0).permutation(len(data.y))[: 2 * ROWS]
    labelled, new = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    labelled = labelled[data.y[labelled] != data.unobserved]
    # As text, since -1 is a class of some sets and the unseen label among whole numbers.
    return data.X[labelled], data.y[labelled].astype(str), data.X[new]


def numbers(name):
    """Every number of one set by its method, as one checkout finds them."""
    import unseen

    warnings.simplefilter("ignore")
    X, y, X_new = samples(name)
    found = {}
    for method, estimate in unseen.compare(X, y, X_new, random_state=0).items():
        found[method] = [*estimate.proportions, estimate.unseen]
    estimate = unseen.estimate(X, y, X_new, confidence=0.95, random_state=0)
    found["intervals"] = np.ravel(estimate.intervals).tolist()
    for rule in filter(lambda one: one.startswith("Rejection"), unseen.__all__):
        fitted = getattr(unseen, rule)(random_state=0).fit(X, y, X_new, estimate)
        found[rule] = np.ravel(fitted.predict_proba(X_new)).tolist()
        found[f"{rule}, out of fold"] = np.ravel(fitted.out_of_fold_.new).tolist()
    found |= {f"estimate, {way}": value for way, value in spoilt(unseen, X, y, X_new)}
    found |= {f"after the number, {way}": value for way, value in after(unseen, X, y, X_new)}
    for way, value in mixtures(unseen, X, y, X_new):
        found[f"mixture, {way}"] = value
    return {method: [float(value) for value in values] for method, values in found.items()}


def leaves(record):
    """Every number of a record as JSON holds it, in order; words are left out."""
    if isinstance(record, bool | int | float):
        return [float(record)]
    if isinstance(record, dict):
        record = list(record.values())
    if not isinstance(record, list | tuple):
        return []
    return [number for one in record for number in leaves(one)]


def spoilt(unseen, X, y, X_new):
    """Estimates with intervals where the new rows moved, or where more is said of the rows."""
    rng = np.random.default_rng(1)
    spread = X.std(0)
    code = np.where(rng.random(X_new.shape) < 0.03, -999.0, X_new)
    half = X_new + 0.6 * spread * (np.arange(len(X_new)) % 2 == 0)[:, None]
    copies = {
        "offset": X_new + 0.1 * spread,
        "gain": 1.05 * X_new,
        "one column": X_new + spread * (np.arange(X.shape[1]) == 0),
        "noise": X_new + 0.1 * spread * rng.normal(size=X_new.shape),
        "far": X_new + 5 * spread,
        "code": code,
        "half of the rows": half,
        "few rows": X_new[:40],
    }
    given = {"confidence": 0.95, "random_state": 0}
    for way, rows in copies.items():
        yield way, leaves(unseen.estimate(X, y, rows, **given).to_dict())
    one = y == y[0]
    yield "one class", leaves(unseen.estimate(X[one], y[one], X_new, **given).to_dict())
    by = np.arange(len(y)) % 6
    yield "groups", leaves(unseen.estimate(X, y, X_new, groups=by, **given).to_dict())
    control = X + 0.1 * spread
    kept = unseen.estimate(X, y, copies["offset"], control=control, **given)
    yield "control", leaves(kept.to_dict())
    rows = csr_matrix(X), y, csr_matrix(X_new)
    yield "sparse rows", leaves(unseen.estimate(*rows, **given).to_dict())
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    other = unseen.OpenSetEstimator(classifier=scaled)
    found = unseen.estimate(X, y, X_new, estimator=other, **given)
    yield "another classifier", leaves(found.to_dict())
    yield (
        "single precision",
        leaves(unseen.estimate(X.astype(np.float32), y, X_new, **given).to_dict()),
    )


def after(unseen, X, y, X_new):
    """Windows, groups of unseen rows, an audit, and scores of somebody else's classifier."""
    by = np.arange(len(X_new)) * 3 // len(X_new)
    yield "monitor", leaves(unseen.monitor(X, y, X_new, by, random_state=0).to_dict())
    rule = unseen.RejectionClassifier(random_state=0).fit(X, y, X_new)
    yield "explain", leaves(unseen.explain(rule, X, y, X_new, random_state=0).to_dict())
    rows = np.arange(0, len(X_new), 7)
    labels = np.where(rows % 3 == 0, y[0], "strange")
    yield "audit", leaves(unseen.audit(rule.predict_new(), rows, labels).to_dict())
    if len(set(y)) == 1:
        return
    model = unseen.KernelLogisticRegression(random_state=0).fit(X, y)
    scores = model.predict_proba(X), y, model.predict_proba(X_new)
    yield "scores", leaves(unseen.estimate_from_scores(*scores, random_state=0).to_dict())


def mixtures(unseen, X, y, X_new):
    """The share of one known class by every method for mixtures."""
    H = X[y == y[0]]
    for method in ("BestBin", "DensityRatio", "Placement", "ROCSlope"):
        estimator = getattr(unseen, method)(random_state=0)
        found = unseen.mixture_proportion(X_new, H, method=estimator)
        yield method, [found.proportion]


def numbers_of(source, name):
    """The numbers of a checkout, from a process that imports its source."""
    path = os.pathsep.join([str(Path(source).resolve()), str(ROOT)])
    command = [sys.executable, __file__, "--numbers", name]
    environment = {**os.environ, "PYTHONPATH": path}
    return json.loads(subprocess.check_output(command, env=environment, text=True))


def difference(old, new):
    """The largest difference of two lists; infinite where they are not of one length."""
    if len(old) != len(new):
        return np.inf
    return float(np.max(np.abs(np.subtract(old, new)), initial=0.0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sources", nargs="*", metavar="SRC", help="the two, then sets")
    parser.add_argument("--tolerance", type=float, default=1e-9)
    parser.add_argument("--numbers", metavar="SET", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.numbers:
        print(json.dumps(numbers(options.numbers)))
        return
    old_source, new_source, *names = options.sources
    largest = 0.0
    for name in names or SETS:
        old, new = (numbers_of(source, name) for source in (old_source, new_source))
        for method in old.keys() & new.keys():
            found = difference(old[method], new[method])
            largest = max(largest, found)
            if found > options.tolerance:
                print(f"{name}, {method}: {found:.3g}")
        for method in sorted(old.keys() ^ new.keys()):
            print(f"{name}, {method}: in one of them only")
        print(f"{name}: {len(old.keys() & new.keys())} lists of numbers compared", flush=True)
    print(f"largest difference: {largest:.3g} (tolerance {options.tolerance:.3g})")
    sys.exit(largest > options.tolerance)


if __name__ == "__main__":
    main()
