"""Methods that assume that every new row is of a known class."""
