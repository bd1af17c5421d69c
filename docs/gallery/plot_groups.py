"""
What the unseen rows are
========================

Training knows the digits 0 to 6; three new rows in ten are a 7, an 8 or a 9. Each mark is a group
of rows that look unseen, with its share and interval; a full mark is a clump of its own. The text
names the known digit nearest to the group.
"""

import matplotlib.pyplot as plt

import unseen
from unseen.demo import digit_samples
from unseen.plots import GroupsDisplay

X, y, X_new, _ = digit_samples(0)
estimate = unseen.estimate(X, y, X_new, random_state=0)
rule = unseen.RejectionKernel(random_state=0).fit(X, y, X_new, estimate)
explanation = unseen.explain(rule, X, y, X_new, random_state=0)

_, ax = plt.subplots(figsize=(7, 2.2), layout="constrained")
GroupsDisplay.from_explanation(explanation, ax=ax)

# %%
# The same in words:
print(explanation.sentence())
