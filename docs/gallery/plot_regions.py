"""
Where a rule says "unseen", and what it costs
=============================================

Two known classes, and an unseen one between and above them. The rule labels every point of the
plane; what it calls unseen is hatched. Its risk is estimated without one unseen label, here for
every threshold of the novelty score.
"""

import matplotlib.pyplot as plt
import numpy as np

import unseen
from unseen.plots import RegionsDisplay, RiskDisplay
from unseen.rejection import label_regions, risk_curve

rng = np.random.default_rng(0)
X = np.vstack([rng.normal([-3, 0], 1, (200, 2)), rng.normal([3, 0], 1, (200, 2))])
y = np.repeat(["left", "right"], 200)
hidden = np.repeat(["left", "right", "unseen"], [150, 100, 120])
centres = {"left": [-3, 0], "right": [3, 0], "unseen": [0, 3]}
X_new = rng.normal([centres[label] for label in hidden], 1)
rule = unseen.RejectionPlugIn(random_state=0).fit(X, y, X_new)

_, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
RegionsDisplay.from_regions(label_regions(rule, X_new, hidden), ax=ax)

# %%
_, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
RiskDisplay.from_curve(risk_curve(rule), ax=ax)
