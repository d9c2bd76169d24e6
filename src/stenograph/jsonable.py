"""Any Python value as JSON, so that a host may pass any value to us."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import msgspec

_DEPTH = 100
_PIECES = 100_000

_encode = msgspec.json.Encoder().encode


def jsonable(value: Any) -> Any:
    """The value as plain JSON values; a value that JSON cannot hold becomes its `repr`. Never raises."""
    try:
        plain = _plain(value)
        if b"null" not in _encode(plain) or not _holds_odd_floats(plain):
            return plain
    except Exception:  # noqa: BLE001  # odd keys, cycles, properties that raise: the host's values may do anything
        plain = value
    return _Converter().convert(plain)


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value, str_keys=True, enc_hook=_describe)


def _describe(value: Any) -> Any:
    if hasattr(value, "model_dump"):  # pydantic, which most SDKs are built on
        return value.model_dump(mode="json")
    for plain in (str, int, float):
        if isinstance(value, plain):  # a subclass, as many libraries have them
            return plain(value)
    if hasattr(value, "dtype") and hasattr(value, "tolist"):  # numpy and its kin, scalars included
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    return _repr(value)


def _holds_odd_floats(plain: Any) -> bool:
    """Whether some null of the value's JSON would really be a NaN or an infinity."""
    nodes = [plain]
    while nodes:
        node = nodes.pop()
        if isinstance(node, float) and not math.isfinite(node):
            return True
        if isinstance(node, dict):
            nodes.extend(node.values())
        elif isinstance(node, list | tuple):
            nodes.extend(node)
    return False


class _Converter:
    """Converts a value piece by piece: an odd piece costs only itself. Terminates on cycles and deep nesting."""

    def __init__(self) -> None:
        self._above: list[int] = []
        self._pieces = 0

    def convert(self, value: Any) -> Any:
        if not isinstance(value, dict | list | tuple):
            return self._convert_one(value)
        self._pieces += 1
        if id(value) in self._above or len(self._above) > _DEPTH or self._pieces > _PIECES:
            return f"<{type(value).__name__} of {len(value)}, left out>"
        self._above.append(id(value))
        try:
            if isinstance(value, dict):
                return {_key(key): self.convert(item) for key, item in value.items()}
            return [self.convert(item) for item in value]
        finally:
            self._above.pop()

    def _convert_one(self, value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return repr(value)
        try:
            plain = _plain(value)
        except Exception:  # noqa: BLE001  # as above
            return _repr(value)
        return self.convert(plain) if plain.__class__ in (dict, list) else plain


def _key(key: Any) -> str:
    return key if isinstance(key, str) else _repr(key)


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  # a repr may do anything, too
        return f"<{type(value).__name__} without a repr>"
