"""The cost of errors, and its estimate without unseen labels."""
