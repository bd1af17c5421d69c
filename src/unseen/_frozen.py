"""Values that nobody can change by accident, and the same values in plain types for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np


class Pairs(NamedTuple):
    """A mapping in the state of a record: labels stay what they are in files with text keys."""

    keys: tuple[Any, ...]
    values: tuple[Any, ...]


class Frozen:
    """Base of frozen dataclasses whose arrays and mappings are read-only too, copies included."""

    _array_types: ClassVar[
        Mapping[str, Any]
    ] = {}  # types of the fields that any sequence may be given to

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            is_array = name in self._array_types and value is not None
            kept = frozen_array(value, self._array_types[name]) if is_array else frozen(value)
            object.__setattr__(self, name, kept)

    def __getstate__(self) -> dict[str, Any]:
        # A mapping proxy cannot be pickled, and JSON has no keys but text. What was worked out and
        # kept is no part of the record.
        return {one.name: _thawed(getattr(self, one.name)) for one in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: frozen(value) for name, value in state.items()})


def frozen(value: Any) -> Any:
    """A read-only view of arrays and mappings, at any depth; anything else as it is."""
    if isinstance(value, np.ndarray):
        return frozen_array(value)
    if isinstance(value, Pairs):
        value = dict(zip(value.keys, value.values, strict=True))
    if isinstance(value, dict | MappingProxyType):
        return MappingProxyType({key: frozen(item) for key, item in value.items()})
    if type(value) in (list, tuple):
        return tuple(frozen(item) for item in value)
    return value


def frozen_array(value: Any, dtype: Any = None) -> Any:
    """A read-only array that nobody else can write to: a copy where somebody could."""
    array = np.asarray(value, dtype=dtype)
    # A read-only view of memory that its owner can write to would not stay what it is.
    owner = array if array.base is None else array.base
    if array.flags.writeable or not isinstance(owner, np.ndarray) or owner.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def plain(value: Any) -> Any:
    """A value in types that JSON and every reader know."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _thawed(value: Any) -> Any:
    if isinstance(value, MappingProxyType):
        return Pairs(tuple(value), tuple(map(_thawed, value.values())))
    return tuple(map(_thawed, value)) if type(value) is tuple else value
