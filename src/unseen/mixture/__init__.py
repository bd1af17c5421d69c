"""Estimators of ν in ``F = (1 - ν) G + ν H``, Eq. (3), one idea per file."""

from unseen.mixture.bbe import BestBin as BestBin
from unseen.mixture.bound import CertifiedBound as CertifiedBound
from unseen.mixture.dedpul import DensityRatio as DensityRatio
from unseen.mixture.kernel_mean import KernelMean as KernelMean
from unseen.mixture.placement import Placement as Placement
from unseen.mixture.slope import ROCSlope as ROCSlope
from unseen.mixture.slope import mixture_proportion as mixture_proportion
