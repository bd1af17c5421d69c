"""Draw docs/images/demo.png, the picture of the README: the digits of ``unseen demo``.

Run ``python tools/readme_picture.py``.
"""

from pathlib import Path

from matplotlib.figure import Figure

import unseen
from unseen.demo import digit_samples
from unseen.plots import ScoresDisplay, SharesDisplay

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "demo.png"


def main() -> None:
    """Estimate, and draw the scores and the shares side by side."""
    X, y, X_new, _ = digit_samples(0)
    estimate = unseen.estimate(X, y, X_new, confidence=0.95, random_state=0)
    training = dict.fromkeys(estimate.classes, 1 / len(estimate.classes))
    figure = Figure(figsize=(9.6, 3.4), layout="constrained", dpi=110)
    left, right = figure.subplots(1, 2)
    ScoresDisplay.from_estimate(estimate, ax=left)
    SharesDisplay.from_estimate(estimate, training=training, ax=right)
    figure.savefig(PICTURE)


if __name__ == "__main__":
    main()
