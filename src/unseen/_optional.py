"""Libraries that may be lacking: imported on first use, or an error that says how to get them.

``pa`` stands for pyarrow, and ``pc`` and others for its modules.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(module: str, what: str, extra: str) -> Any:
    """A module, or an error that begins with ``what``, such as "plots need matplotlib"."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f'{what}, which is not installed. Try: pip install "unseen[{extra}]"'
        ) from error


class Lazy:
    """A module of pyarrow, imported when something of it is used first."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(needed(self._module, "tables need pyarrow", "cli"), name)


pa: Any = Lazy("pyarrow")
pc: Any = Lazy("pyarrow.compute")
pa_csv: Any = Lazy("pyarrow.csv")
pa_feather: Any = Lazy("pyarrow.feather")
pa_ipc: Any = Lazy("pyarrow.ipc")
pa_json: Any = Lazy("pyarrow.json")
pa_parquet: Any = Lazy("pyarrow.parquet")
