"""A value as one line of JSON with its `__type__`, and back."""

from __future__ import annotations

import dataclasses
import json
import sys
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from stenograph.errors import InvalidEvent
from stenograph.model import mend

T = TypeVar("T")

TYPE_KEY = "__type__"
_MINUTE = timedelta(minutes=1)

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def is_record(value: object) -> bool:
    """Whether a session takes it: an instance of a dataclass or of a msgspec Struct."""
    return isinstance(value, Struct) or (dataclasses.is_dataclass(value) and not isinstance(value, type))


def type_name(kind: type[Any]) -> str:
    """`<module>:<Class>`, with the module from which people import it.

    That is the nearest package above the class's own module whose `__all__` names the class; else its own module.
    """
    module = kind.__module__
    package = module
    while "." in package:
        package = package.rpartition(".")[0]
        door = sys.modules.get(package)
        if kind.__name__ in getattr(door, "__all__", ()) and getattr(door, kind.__name__, None) is kind:
            module = package
            break
    return f"{module}:{kind.__qualname__}"


class Record(Generic[T]):
    """How values of one type are written and read."""

    def __init__(self, kind: type[T]) -> None:
        self.kind = kind
        self.name = type_name(kind)
        self.replaced = 0
        """Characters that UTF-8 cannot hold and that became U+FFFD."""
        self._head = b'{"%s":%s' % (TYPE_KEY.encode(), json.dumps(self.name).encode())

    def line(self, value: T) -> bytes:
        """The value's line, newline included; raises `InvalidEvent` for a value that could not be read back."""
        replaced = 0
        try:
            if type(value) is not self.kind:
                raise TypeError(f"it is a {type(value).__name__}")
            value = _with_writable_times(value)
            try:
                body = _encode(value)
            except UnicodeEncodeError:
                plain, replaced = mend.scrub(msgspec.to_builtins(value, str_keys=True))
                body = _encode(plain)
            line = self._head + (b"," if len(body) > 2 else b"") + body[1:]
            self._parse(line)
        except Exception as error:  # the value's own code runs in here, and each way to fail has its exception
            raise self._refusal(value, error) from error
        self.replaced += replaced
        return line + b"\n"

    def value(self, line: bytes) -> T | None:
        """The value in a line, without its newline; None when the line holds no value of this type."""
        try:
            return self._parse(line)
        except Exception:  # noqa: BLE001  # a damaged line, an older form of the class, or its own code: counted
            return None

    def _parse(self, line: bytes) -> T:
        fields = _decode(line)
        if fields.pop(TYPE_KEY) != self.name:
            raise ValueError("another type")
        return msgspec.convert(fields, self.kind, str_keys=True)

    def _refusal(self, value: T, error: Exception) -> InvalidEvent:
        field = next((f"its field {name!r}" for name in _names(value) if not _is_json(getattr(value, name))), "it")
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        return InvalidEvent(
            f"a {self.name} cannot be kept in a file, {field} does not go through JSON: {why}; give plain JSON values, "
            "or keep the slice in memory"
        )


def _with_writable_times(value: T) -> T:
    """The value with times in UTC where an offset has seconds, which RFC 3339 cannot hold."""
    moved = {
        name: moment.astimezone(UTC)
        for name in _names(value)
        if isinstance(moment := getattr(value, name), datetime) and (moment.utcoffset() or _MINUTE) % _MINUTE
    }
    if not moved:
        return value
    if isinstance(value, Struct):
        return msgspec.structs.replace(value, **moved)
    return dataclasses.replace(value, **moved)  # type: ignore[type-var]  # no Struct, so a dataclass


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, Struct):
        return value.__struct_fields__
    return tuple(value.__dataclass_fields__)


def _is_json(value: object) -> bool:
    try:
        _encode(value)
    except UnicodeEncodeError:
        return True
    except Exception:  # noqa: BLE001  # whatever it is, this is the field to name
        return False
    return True
