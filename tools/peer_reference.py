"""Freeze what independent implementations answer, for tests/proportions to compare with.

Run it in an environment of its own, with quapy and mlquantify installed; the library and its
tests need neither:

    python tools/peer_reference.py tests/reference/peers
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import quapy.functional as functional
import quapy.method.aggregative as qp
from mlquantify.likelihood import EMQ

PROBLEMS = {
    "binary": ([-1.0, 1.0], [0.5, 0.5], [0.85, 0.15]),
    "binary_skewed": ([-0.7, 0.7], [0.8, 0.2], [0.3, 0.7]),
    "three": ([-1.5, 0.0, 1.5], [0.2, 0.5, 0.3], [0.5, 0.1, 0.4]),
    "four_one_absent": ([-3.0, -1.0, 1.0, 3.0], [0.25, 0.25, 0.25, 0.25], [0.6, 0.3, 0.1, 0.0]),
}
N_LABELLED, N_NEW, DECIMALS = 120, 150, 6


def sample(rng, centres, shares, n_rows):
    """Labels and values of rows from unit Gaussians."""
    counts = np.round(np.array(shares) * n_rows).astype(int)
    codes = np.repeat(np.arange(len(centres)), counts)
    return codes, rng.normal(np.array(centres)[codes], 1.0)


def posteriors(x, centres, prior):
    """Posteriors that are too sure by half, as those of real classifiers tend to be."""
    logits = -0.75 * (x[:, None] - np.array(centres)) ** 2 + np.log(prior)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    rows = np.round(powers / powers.sum(axis=1, keepdims=True), DECIMALS)
    rows[:, -1] = 1 - rows[:, :-1].sum(axis=1)
    return np.abs(np.round(rows, DECIMALS))


def quapy_em(prior, new):
    """EM run to its end: by default it stops early."""
    qp.EMQ.MAX_ITER = 1_000_000
    return qp.EMQ.EM(prior, new, epsilon=1e-13)[0]


def mlquantify_em(prior, new):
    """EM run to its end: by default it stops early."""
    return EMQ.EM(new, prior, tolerance=1e-13, max_iter=1_000_000)[0]


def quapy_adjusted(codes, labelled, new, soft, solver):
    """ACC or PACC with QuaPy's rates, solver and normalisation."""
    n_classes = labelled.shape[1]
    classes = np.arange(n_classes)
    if soft:
        rates = qp.PACC.getPteCondEstim(classes, codes, labelled)
        counted = new.mean(axis=0)
    else:
        rates = qp.ACC.getPteCondEstim(classes, codes, labelled.argmax(axis=1))
        counted = np.bincount(new.argmax(axis=1), minlength=n_classes) / len(new)
    shares = qp.ACC.solve_adjustment(rates, counted, method="inversion", solver=solver)
    return functional.normalize_prevalence(shares, method="clip")


def main(folder):
    """Write one file per problem."""
    for seed, (name, (centres, prior, shares)) in enumerate(PROBLEMS.items()):
        rng = np.random.default_rng(seed)
        codes, x = sample(rng, centres, prior, N_LABELLED)
        _, x_new = sample(rng, centres, shares, N_NEW)
        labelled, new = (posteriors(rows, centres, prior) for rows in (x, x_new))
        prior = np.bincount(codes) / len(codes)
        answers = {
            "quapy EMQ": quapy_em(prior, new),
            "mlquantify EMQ": mlquantify_em(prior, new),
            **{
                f"quapy {'PACC' if soft else 'ACC'} {solver}": quapy_adjusted(
                    codes, labelled, new, soft, solver
                )
                for soft in (True, False)
                for solver in ("minimize", "exact-raise")
            },
        }
        record = {
            "versions": {peer: version(peer) for peer in ("quapy", "mlquantify", "numpy")},
            "codes": codes.tolist(),
            "labelled": labelled.tolist(),
            "new": new.tolist(),
            "answers": {peer: np.asarray(shares).tolist() for peer, shares in answers.items()},
        }
        Path(folder, f"{name}.json").write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
