"""The paper's data sets by name, generators of the artificial ones, and prescribed proportions."""

from unseen.datasets.generators import draw_with_proportions as draw_with_proportions
from unseen.datasets.generators import make_ringnorm as make_ringnorm
from unseen.datasets.generators import make_twonorm as make_twonorm
from unseen.datasets.generators import make_waveform as make_waveform
from unseen.datasets.load import Dataset as Dataset
from unseen.datasets.load import available_datasets as available_datasets
from unseen.datasets.load import dataset_names as dataset_names
from unseen.datasets.load import load_dataset as load_dataset
