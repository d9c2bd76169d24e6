"""Parsers between two syncs: pickled into the index, so that a grown file is read on from where it was.

The function by which a parser reads side files is not pickled; the restored parser gets a new one. The unpickler allows
Stenograph's classes, those of the package that the format comes from, and plain containers: the index is ours, but
reading a database must not run arbitrary code.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

from stenograph.formats.base import FormatSpec
from stenograph.formats.registry import package_of
from stenograph.version import __version__

SideFile = Callable[[str], str | None]

SHAPE = 3
"""Raise it when a parser's or cursor's attributes change within a version: states of the old shape are then not loaded,
and the kept bytes are read again."""

_PLAIN = {
    ("builtins", name)
    for name in ("set", "frozenset", "bytearray", "list", "dict", "tuple", "int", "str", "bytes", "float", "complex")
} | {
    ("collections", "Counter"),
    ("collections", "OrderedDict"),
    ("collections", "defaultdict"),
    ("collections", "deque"),
    ("datetime", "datetime"),
    ("datetime", "timedelta"),
    ("datetime", "timezone"),
    ("uuid", "UUID"),
    ("uuid", "SafeUUID"),
    ("msgspec", "Raw"),
    ("msgspec", "UNSET"),
    ("msgspec._core", "Raw"),
    ("msgspec._core", "UNSET"),
    ("msgspec._utils", "rebuild"),
    ("copyreg", "_reconstructor"),
    ("builtins", "object"),
}


class UnknownState(Exception):
    """The state was not written by this program."""


def program_of(spec: FormatSpec) -> str:
    """What a state is valid for: the program's version, its shape, the format, and the package of the format."""
    package = package_of(spec.name)
    ours = f"{__version__} {SHAPE} {spec.name}"
    return ours if package in ("", f"stenograph {__version__}") else f"{ours} {package}"


def dump_state(state: Any, side_file: SideFile) -> bytes:
    """A state as bytes; `load_state` puts its own function wherever the state holds `side_file`."""
    buffer = io.BytesIO()
    _Pickler(buffer, side_file).dump(state)
    return buffer.getvalue()


def load_state(data: bytes, spec: FormatSpec, side_file: SideFile) -> Any:
    """The state in these bytes. Raises `UnknownState` for anything that `dump_state` did not make of known classes."""
    try:
        return _Unpickler(io.BytesIO(data), spec, side_file).load()
    except Exception as error:  # whatever a broken pickle raises, the kept bytes are read again
        raise UnknownState(str(error)) from error


class _Pickler(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO, side_file: SideFile) -> None:
        super().__init__(buffer, protocol=5)
        self._side_file = side_file

    def reducer_override(self, obj: Any) -> Any:
        # Not `persistent_id`, which is called for every text and number: that took a third of the time.
        return (_side_file_of_reader, ()) if obj is self._side_file else NotImplemented


def _side_file_of_reader() -> SideFile:
    """Stands in a state for `side_file`; reading the state puts another function in its place."""
    raise UnknownState("only load_state can put a side file into a state")


class _Unpickler(pickle.Unpickler):
    def __init__(self, buffer: io.BytesIO, spec: FormatSpec, side_file: SideFile) -> None:
        super().__init__(buffer)
        self._packages = {"stenograph", spec.open.__module__.partition(".")[0]}
        self._side_file = side_file

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("builtins", "getattr"):  # how a method that an object holds is written
            return self._method
        if (module, name) == (__name__, _side_file_of_reader.__name__):
            return lambda: self._side_file
        if (module, name) in _PLAIN or module.partition(".")[0] in self._packages:
            return super().find_class(module, name)
        raise UnknownState(f"{module}.{name} is not a part of a parser")

    def _method(self, owner: Any, name: str) -> Any:
        if type(owner).__module__.partition(".")[0] in self._packages and not name.startswith("__"):
            return getattr(owner, name)
        raise UnknownState(f"{name} is not a method of a parser")
