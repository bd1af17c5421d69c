"""The samples that a user hands in: checked rows, labels, and copies among them."""

from unseen.samples.checks import (
    check_again,
    check_closed_set,
    check_fold_rows,
    check_folds,
    check_labelled,
    check_n_classes,
    check_new,
    check_sample,
    sample_notices,
)
from unseen.samples.clusters import (
    Clusters,
    all_clusters,
    design_effect,
    effective_number,
    first_rows,
    group_clusters,
    in_one_group,
)
from unseen.samples.labelled import LabelledRows, check_labels

__all__ = [
    "Clusters",
    "LabelledRows",
    "all_clusters",
    "check_again",
    "check_closed_set",
    "check_fold_rows",
    "check_folds",
    "check_labelled",
    "check_labels",
    "check_n_classes",
    "check_new",
    "check_sample",
    "design_effect",
    "effective_number",
    "first_rows",
    "group_clusters",
    "in_one_group",
    "sample_notices",
]
