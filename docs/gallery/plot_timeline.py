"""
Shares over time
================

Four weeks of new rows. A new class appears in week 3 and grows. Bands are 95% intervals; a mark
says that a week differs from the first one.
"""

import matplotlib.pyplot as plt
import numpy as np

from unseen.monitoring import monitor
from unseen.plots import TimelineDisplay

rng = np.random.default_rng(0)
X = np.vstack([rng.normal([-3, 0], 1, (80, 2)), rng.normal([3, 0], 1, (80, 2))])
y = np.repeat(["left", "right"], 80)


def week(n_unseen):
    """One week's rows."""
    left, right = rng.normal([-3, 0], 1, (60, 2)), rng.normal([3, 0], 1, (40, 2))
    return np.vstack([left, right, rng.normal([0, 4], 1, (n_unseen, 2))])


weeks = [week(n_unseen) for n_unseen in (0, 0, 20, 50)]
keys = np.repeat([f"week {number}" for number in range(1, 5)], [len(rows) for rows in weeks])
timeline = monitor(X, y, np.vstack(weeks), by=keys, random_state=0)

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
TimelineDisplay.from_timeline(timeline, ax=ax)

# %%
# The same as a table:
print(timeline)
