"""Methods that set the new rows against one known class at a time."""
