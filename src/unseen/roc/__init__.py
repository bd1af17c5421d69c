"""From scores to a ROC, and from a ROC to the slope at its right end."""

from unseen.roc.bootstrap import bootstrap_roc as bootstrap_roc
from unseen.roc.bootstrap import bootstrap_rocs as bootstrap_rocs
from unseen.roc.fit import GRID as GRID
from unseen.roc.fit import fit_roc as fit_roc
from unseen.roc.fit import fit_sketches as fit_sketches
from unseen.roc.models import Concave as Concave
from unseen.roc.models import Gaussian as Gaussian
from unseen.roc.models import RocModel as RocModel
from unseen.roc.sketch import RocSketch as RocSketch
from unseen.roc.sketch import concave_hull as concave_hull
