"""Same numbers: estimates and rules of two checkouts on bundled sets, and how far they differ.

    git worktree add ../before main
    python benchmarks/same.py ../before/src src            three sets; a few minutes
    python benchmarks/same.py ../before/src src thyroid    one set; half a minute

For a change that should change no number: it prints the largest difference of each method and set,
and ends with code 1 where one is above the tolerance. Each checkout is read by a process of its
own, with the same rows and seeds. A method that only one of them has is named and not compared.
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
    return {method: [float(value) for value in values] for method, values in found.items()}


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
