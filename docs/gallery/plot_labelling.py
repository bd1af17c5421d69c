"""
The value of labelling more rows
================================

An estimate without labels is worth as many labelled rows as would give the same interval. Both
together give a narrower interval than either.
"""

import matplotlib.pyplot as plt
import numpy as np

import unseen
from unseen.labelling import labelling_value
from unseen.plots import LabellingDisplay

rng = np.random.default_rng(0)
X = np.vstack([rng.normal([-2, 0], 1, (300, 2)), rng.normal([2, 0], 1, (300, 2))])
y = np.repeat(["left", "right"], 300)
X_new = np.vstack([rng.normal([-2, 0], 1, (350, 2)), rng.normal([0, 4], 1, (150, 2))])
estimate = unseen.estimate(X, y, X_new, confidence=0.95, random_state=0)
value = labelling_value(estimate)

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
LabellingDisplay.from_value(value, ax=ax)

# %%
# The same as a table:
print(value)
