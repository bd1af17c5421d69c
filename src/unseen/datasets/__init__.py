"""The paper's data sets by name, generators of the artificial ones, and prescribed proportions."""

from unseen.datasets.generators import make_ringnorm, make_twonorm, make_waveform
from unseen.datasets.load import Dataset, available_datasets, dataset_names, load_dataset
from unseen.datasets.shift import draw_with_proportions

__all__ = [
    "Dataset",
    "available_datasets",
    "dataset_names",
    "draw_with_proportions",
    "load_dataset",
    "make_ringnorm",
    "make_twonorm",
    "make_waveform",
]
