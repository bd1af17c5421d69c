"""Partitions of the rows into cells, each with one label."""
