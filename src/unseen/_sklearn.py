"""The one door to names that scikit-learn does not promise to keep."""

from typing import Any

from sklearn import config_context
from sklearn.base import _fit_context as fit_context
from sklearn.utils import Tags
from sklearn.utils import _safe_indexing as some_rows
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "KeepsRequests",
    "StrOptions",
    "Tags",
    "check_sample_weight",
    "fit_context",
    "some_rows",
]


class KeepsRequests:
    """Mixin, before BaseEstimator: a saved estimator keeps what it asks a pipeline for.

    scikit-learn keeps the answers of ``set_fit_request`` in an object that knows its estimator. A
    file cannot hold this circle, so the state of the estimator holds the bare requests.
    """

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())  # type: ignore[call-overload]
        asked = state.pop("_metadata_request", None)
        if asked is not None:
            state["_requests"] = {
                method: dict(route.requests)
                for method, route in vars(asked).items()
                if method != "owner" and route.requests
            }
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        requests = state.pop("_requests", {})
        super().__setstate__(state)  # type: ignore[misc]
        with config_context(enable_metadata_routing=True):
            for method, asked in requests.items():
                getattr(self, f"set_{method}_request")(**asked)
