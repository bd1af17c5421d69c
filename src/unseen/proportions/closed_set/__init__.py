"""Methods that take every new row for one of a known class."""
