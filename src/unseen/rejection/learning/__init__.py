"""What rules learn from, and how: samples, shares, folds, calibration, thresholds."""
