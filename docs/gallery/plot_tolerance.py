"""
How much must be new even if known classes changed
==================================================

A bound without a model: if no kind of known row became more common than by the factor below, at
least so much is new. The curve ends where all new rows might be of known classes.
"""

import matplotlib.pyplot as plt
import numpy as np

import unseen
from unseen.plots import ToleranceDisplay

rng = np.random.default_rng(0)
X = np.vstack([rng.normal([-2, 0], 1, (300, 2)), rng.normal([2, 0], 1, (300, 2))])
y = np.repeat(["left", "right"], 300)
X_new = np.vstack([rng.normal([-2, 0], 1, (300, 2)), rng.normal([0, 9], 1, (200, 2))])
estimate = unseen.estimate(X, y, X_new, random_state=0)

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ToleranceDisplay.from_tolerance(estimate.drift.tolerance, ax=ax)

# %%
# The record behind the picture:
print([round(estimate.drift.must(factor), 2) for factor in (1, 2, 5)], estimate.drift.gamma)
