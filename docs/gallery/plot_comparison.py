"""
Estimators side by side, when a class was never seen
====================================================

A fifth of the new rows come from a third class. Closed-set methods must hand these rows to the
classes that they know; open-set methods can leave them over. The numbers are errors: the share of
rows that would have to move.
"""

import matplotlib.pyplot as plt
import numpy as np

import unseen
from unseen.plots import ComparisonDisplay

rng = np.random.default_rng(0)
X = np.vstack([rng.normal([-2, 0], 1, (200, 2)), rng.normal([2, 0], 1, (200, 2))])
y = np.repeat(["left", "right"], 200)
X_new = np.vstack(
    [
        rng.normal([-2, 0], 1, (150, 2)),
        rng.normal([2, 0], 1, (90, 2)),
        rng.normal([1, 5], 1, (60, 2)),
    ]
)
chosen = [
    unseen.OpenSetEstimator(),
    unseen.MPEIncomplete(),
    unseen.SaerensEM(),
    unseen.AdjustedCount(),
    unseen.ClassifyAndCount(),
]
comparison = unseen.compare(X, y, X_new, chosen, random_state=0)

_, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ComparisonDisplay.from_comparison(comparison, truth={"left": 0.5, "right": 0.3}, ax=ax)
