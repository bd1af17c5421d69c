"""The share of each known class in new rows, and the share of classes never seen.

``__init__.pyi`` lists the public names. Each is loaded on first use, so that ``import unseen`` is
cheap.
"""

from importlib import import_module
from typing import Any

from unseen._names import public_names
from unseen._version import __version__

__all__ = [*public_names(), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in public_names():
        raise AttributeError(f"module 'unseen' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(public_names()[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
