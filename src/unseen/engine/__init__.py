"""How work is run; knows no statistics."""
