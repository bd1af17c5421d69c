"""The samples that a user hands in: checked rows, labels, and copies among them."""

from unseen.samples.checks import LabelledRows as LabelledRows
from unseen.samples.checks import check_again as check_again
from unseen.samples.checks import check_closed_set as check_closed_set
from unseen.samples.checks import check_fold_rows as check_fold_rows
from unseen.samples.checks import check_folds as check_folds
from unseen.samples.checks import check_labelled as check_labelled
from unseen.samples.checks import check_labels as check_labels
from unseen.samples.checks import check_n_classes as check_n_classes
from unseen.samples.checks import check_new as check_new
from unseen.samples.checks import check_sample as check_sample
from unseen.samples.clusters import Clusters as Clusters
from unseen.samples.clusters import all_clusters as all_clusters
from unseen.samples.clusters import design_effect as design_effect
from unseen.samples.clusters import effective_number as effective_number
from unseen.samples.clusters import first_rows as first_rows
from unseen.samples.clusters import group_clusters as group_clusters
from unseen.samples.clusters import in_one_group as in_one_group
from unseen.samples.oddities import sample_notices as sample_notices
