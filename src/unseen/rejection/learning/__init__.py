"""What rules learn from: samples and folds, shares, and losses."""
