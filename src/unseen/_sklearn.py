"""The one door to names that scikit-learn does not promise to keep."""

from sklearn.base import _fit_context as fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = ["HasMethods", "Interval", "StrOptions", "Tags", "check_sample_weight", "fit_context"]
