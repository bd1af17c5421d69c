"""Read tables in bounded memory, prepare columns by stated rules, and write rows back whole."""

from unseen.tables._arrow import Part
from unseen.tables.columns import Columns
from unseen.tables.groups import GroupBy
from unseen.tables.predictions import ScoreColumns
from unseen.tables.sampling import Sample, read_groups, read_labelled, read_sample
from unseen.tables.source import Source, WithLabels, check_names
from unseen.tables.values import BadCell
from unseen.tables.write import KeptBatches, RowWriter

__all__ = [
    "BadCell",
    "Columns",
    "GroupBy",
    "KeptBatches",
    "Part",
    "RowWriter",
    "Sample",
    "ScoreColumns",
    "Source",
    "WithLabels",
    "check_names",
    "read_groups",
    "read_labelled",
    "read_sample",
]
