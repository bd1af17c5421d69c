"""
Shares of digits, three of them never seen
==========================================

Training knows the digits 0 to 6, equally often. The new batch holds them in other shares, and 30%
of it are sevens, eights and nines. The dots are the estimated shares, the lines their 95%
intervals, and the grey ticks the shares in training.
"""

import matplotlib.pyplot as plt

import unseen
from unseen.demo import digit_samples
from unseen.plots import SharesDisplay

X, y, X_new, _ = digit_samples(0)
estimate = unseen.estimate(X, y, X_new, confidence=0.95, random_state=0)

_, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
SharesDisplay.from_estimate(estimate, training=dict.fromkeys(range(7), 1 / 7), ax=ax)

# %%
# The same as a table:
print(estimate)
