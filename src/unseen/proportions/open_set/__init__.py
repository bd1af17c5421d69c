"""The default estimator: whether anything is unseen, and how much."""
