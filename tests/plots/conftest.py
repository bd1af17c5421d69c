"""Records to draw, small and made by hand."""

from collections.abc import Callable

import numpy as np
import pytest

from unseen.records import Estimate, RocEvidence
from unseen.rejection import RejectionTree

pytest.importorskip("matplotlib")

Maker = Callable[..., Estimate]


@pytest.fixture(scope="session")
def made() -> Maker:
    """Estimates with any classes; shares fall, and 30% are unseen."""

    def make(classes: list, unseen: float = 0.3, **fields) -> Estimate:
        weights = np.arange(len(classes), 0, -1.0)
        shares = (1 - unseen) * weights / weights.sum()
        ends = np.append(shares, unseen)
        return Estimate(
            tuple(classes),
            shares,
            unseen,
            "made",
            n_labelled=dict.fromkeys(classes, 50),
            n_new=400,
            intervals=np.column_stack([np.maximum(ends - 0.03, 0), np.minimum(ends + 0.05, 1)]),
            confidence=0.95,
            **fields,
        )

    return make


@pytest.fixture(scope="session")
def evidence() -> RocEvidence:
    """Known scores are N(0, 1), and 30% of the new ones are N(3, 1)."""
    rng = np.random.default_rng(0)
    known = rng.normal(0, 1, 3000)
    new = np.append(rng.normal(0, 1, 2100), rng.normal(3, 1, 900))
    thresholds = np.sort(np.append(known, new))[::-20]
    thresholds = np.concatenate([[np.inf], thresholds[1:], [-np.inf]])
    above = [(sample[:, None] > thresholds).mean(axis=0) for sample in (known, new)]
    return RocEvidence(*above, 0.7, len(new), len(known), thresholds=thresholds)


@pytest.fixture(scope="session")
def fitted() -> tuple[RejectionTree, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal([-4, 0], 1, (150, 2)), rng.normal([4, 0], 1, (150, 2))])
    X_new = np.vstack([X[::2] + 0.01, rng.normal([0, 5], 1, (150, 2))])
    y = np.repeat(["left", "right"], 150)
    rule = RejectionTree(random_state=0).fit(X, y, X_new, [0.25, 0.25])
    return rule, X_new, np.append(y[::2], ["unseen"] * 150)
