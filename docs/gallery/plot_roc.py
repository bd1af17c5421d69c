"""
A ROC whose slope is the share
==============================

A classifier tells new rows from labelled ones. If known classes make up 70% of the new rows, its
ROC ends in a straight line of slope 0.7: there, at low scores, both samples hold known rows only.
Drawn on to the left edge, the line meets it at the unseen share.
"""

import matplotlib.pyplot as plt
import numpy as np

import unseen
from unseen.plots import RocDisplay

rng = np.random.default_rng(0)
X = np.vstack([rng.normal([-2, 0], 1, (400, 2)), rng.normal([2, 0], 1, (400, 2))])
y = np.repeat(["left", "right"], 400)
X_new = np.vstack([rng.normal([-2, 0], 1, (560, 2)), rng.normal([0, 3], 1, (240, 2))])
estimate = unseen.estimate(X, y, X_new, random_state=0)

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
RocDisplay.from_estimate(estimate, ax=ax)

# %%
# The paper's estimator has one ROC per class, and one slope:
separate = unseen.MPEIncomplete(random_state=0).fit(X, y).estimate(X_new)

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
RocDisplay.from_estimate(separate, "left", ax=ax)
