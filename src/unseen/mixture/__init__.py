"""Estimators of ν in ``F = (1 - ν) G + ν H``, Eq. (3), one idea per file."""

from unseen.mixture.bbe import BestBin
from unseen.mixture.bound import CertifiedBound
from unseen.mixture.dedpul import DensityRatio
from unseen.mixture.kernel_mean import KernelMean
from unseen.mixture.placement import Placement
from unseen.mixture.proportion import mixture_proportion
from unseen.mixture.slope import ROCSlope

__all__ = [
    "BestBin",
    "CertifiedBound",
    "DensityRatio",
    "KernelMean",
    "Placement",
    "ROCSlope",
    "mixture_proportion",
]
