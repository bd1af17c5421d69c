"""The samples that a user hands in: checked rows, labels, and copies among them."""
