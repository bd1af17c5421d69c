"""Methods that compare the new rows with one known class at a time."""
