"""What rules learn from, and by: samples and folds, shares, losses."""
