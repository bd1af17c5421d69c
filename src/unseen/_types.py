"""Names for the kinds of array that pass between the folders."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
Array: TypeAlias = Any  # of NumPy, or of torch on some device
Matrix: TypeAlias = Any  # rows by columns: a dense array or a CSR matrix
ScorePair: TypeAlias = tuple[FloatArray, FloatArray]  # scores of F, then of H
