"""Any Python value as JSON, so that a host may hand us whatever it has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec


def jsonable(value: Any) -> Any:
    """The value as plain JSON values; what JSON has no form for becomes its `repr`. Never raises."""
    try:
        return msgspec.to_builtins(value, str_keys=True, enc_hook=_describe)
    except Exception:  # noqa: BLE001  # odd keys, cycles, properties that raise: the host's values may do anything
        return _retold(value, 0)


def _describe(value: Any) -> Any:
    if hasattr(value, "model_dump"):  # pydantic, which most SDKs are built on
        return value.model_dump(mode="json")
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    return _repr(value)


def _retold(value: Any, depth: int) -> Any:
    """Piece by piece, so that one odd piece costs only itself."""
    if depth > 32:
        return _repr(value)
    if isinstance(value, dict):
        return {str(key): _retold(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_retold(item, depth + 1) for item in value]
    try:
        return msgspec.to_builtins(value, str_keys=True, enc_hook=_describe)
    except Exception:  # noqa: BLE001  # as above
        return _repr(value)


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  # a repr may do anything, too
        return f"<{type(value).__name__} without a repr>"
