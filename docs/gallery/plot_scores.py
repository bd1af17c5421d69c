"""
The gap that known rows leave
=============================

Known rows score among the new rows as they do among the labelled ones. Scaled to their share they
lie under the curve of the new rows, and the area between the two is the unseen share.
"""

import matplotlib.pyplot as plt
import numpy as np

import unseen
from unseen.plots import ScoresDisplay

rng = np.random.default_rng(0)
X = np.vstack([rng.normal([-2, 0], 1, (600, 2)), rng.normal([2, 0], 1, (600, 2))])
y = np.repeat(["left", "right"], 600)
X_new = np.vstack([rng.normal([-2, 0], 1, (840, 2)), rng.normal([0, 3], 1, (360, 2))])
estimate = unseen.estimate(X, y, X_new, random_state=0)

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ScoresDisplay.from_estimate(estimate, ax=ax)
