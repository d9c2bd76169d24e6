"""Decoded JSON as a record with typed fields, without values of the wrong type."""

from __future__ import annotations

from typing import Any, TypeVar, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import fields

Other = list[Any] | str | int | float | bool | None
"""Any value in a place where an object was expected."""
R = TypeVar("R", bound=Struct)


def fitted(value: dict[Any, Any], kind: type[R]) -> R:
    """A record with those fields of an object that have the right type, also in nested records."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError):
        pass
    found = kind()
    for each in fields(kind):
        item = value.get(each.encode_name)
        inner = _record_in(each.type)
        if isinstance(item, dict) and inner is not None:
            setattr(found, each.name, fitted(item, inner))
            continue
        try:
            setattr(found, each.name, msgspec.convert(item, each.type))
        except (msgspec.ValidationError, RecursionError):
            continue
    return found


def _record_in(annotation: Any) -> type[Struct] | None:
    """The record that a field may be."""
    kinds = get_args(annotation) or (annotation,)
    return next((each for each in kinds if isinstance(each, type) and issubclass(each, Struct)), None)
