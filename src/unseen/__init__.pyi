# Every public name, one line each: type checkers read this file, and so does __init__.py.
# A new estimator is a new file and one line here.

from unseen.api import Comparison as Comparison
from unseen.api import compare as compare
from unseen.api import estimate as estimate
from unseen.api import mixture_proportion as mixture_proportion
from unseen.intervals import Calibrated as Calibrated
from unseen.intervals import Percentile as Percentile
from unseen.intervals import RocBand as RocBand
from unseen.labelling import LabellingValue as LabellingValue
from unseen.labelling import labelling_value as labelling_value
from unseen.loop.audit import Audit as Audit
from unseen.loop.audit import audit as audit
from unseen.loop.sheet import Sheet as Sheet
from unseen.loop.sheet import draw_sheet as draw_sheet
from unseen.mixture.bbe import BestBin as BestBin
from unseen.mixture.bound import CertifiedBound as CertifiedBound
from unseen.mixture.dedpul import DensityRatio as DensityRatio
from unseen.mixture.kernel_mean import KernelMean as KernelMean
from unseen.mixture.placement import Placement as Placement
from unseen.mixture.slope import ROCSlope as ROCSlope
from unseen.monitoring import Timeline as Timeline
from unseen.monitoring import monitor as monitor
from unseen.persist import load as load
from unseen.persist import save as save
from unseen.proportions.base import ProportionEstimator as ProportionEstimator
from unseen.proportions.closed_set.adjusted import AdjustedCount as AdjustedCount
from unseen.proportions.closed_set.count import ClassifyAndCount as ClassifyAndCount
from unseen.proportions.closed_set.em import SaerensEM as SaerensEM
from unseen.proportions.closed_set.hall import HallECDF as HallECDF
from unseen.proportions.closed_set.kl import KLDivergence as KLDivergence
from unseen.proportions.closed_set.l2 import L2Distance as L2Distance
from unseen.proportions.open_set import OpenSetEstimator as OpenSetEstimator
from unseen.proportions.per_class.binary import BinaryRescaled as BinaryRescaled
from unseen.proportions.per_class.incomplete import MPEIncomplete as MPEIncomplete
from unseen.proportions.per_class.joint import MPEJoint as MPEJoint
from unseen.proportions.per_class.projected import MPEProjected as MPEProjected
from unseen.records import Estimate as Estimate
from unseen.records import MixtureEstimate as MixtureEstimate
from unseen.records import Notice as Notice
from unseen.records import UnseenWarning as UnseenWarning
from unseen.records import UpperBound as UpperBound
from unseen.rejection.classifier import RejectionClassifier as RejectionClassifier
from unseen.rejection.forest import RejectionForest as RejectionForest
from unseen.rejection.histogram import RejectionHistogram as RejectionHistogram
from unseen.rejection.kernel import RejectionKernel as RejectionKernel
from unseen.rejection.plugin import RejectionPlugIn as RejectionPlugIn
from unseen.rejection.risk.scorer import open_set_risk as open_set_risk
from unseen.rejection.risk.scorer import open_set_scorer as open_set_scorer
from unseen.rejection.stack import RejectionStack as RejectionStack
from unseen.rejection.threshold import RejectionThreshold as RejectionThreshold
from unseen.rejection.tree import RejectionTree as RejectionTree
from unseen.scores.klr import KernelLogisticRegression as KernelLogisticRegression

__version__: str
