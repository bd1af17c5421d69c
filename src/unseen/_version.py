"""The version, in one place, and those of the libraries under this one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

__version__ = "0.1.0"


@lru_cache(maxsize=1)
def library_versions() -> Mapping[str, str]:
    """Versions that an estimate depends on."""
    import platform

    import numpy
    import scipy
    import sklearn

    return {
        "unseen": __version__,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
