"""Slice: the values of one type, in order. What a storage must offer, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

T = TypeVar("T")


class SlicePolicy(Enum):
    """What happens to a slice when a snapshot is restored."""

    STATE = "state"
    """It goes back to the snapshot."""
    LOG = "log"
    """It is append-only, and keeps everything."""


class SliceStats(Struct, frozen=True, kw_only=True):
    """What a slice could not keep or read unchanged."""

    torn: int = 0
    """Half lines that a crash left at the end of the file: those moved aside, and the one that is there now."""
    unreadable: int = 0
    """Lines that the last full reading had to leave out."""
    replaced: int = 0
    """Characters that UTF-8 cannot hold and that became U+FFFD."""


class Slice(Protocol[T]):
    """The storage of one type. One thread writes at a time; reading is safe beside it."""

    def append(self, value: T) -> None:
        """Add a value, or raise and leave everything as it was."""

    def replace(self, values: Iterable[T]) -> None:
        """Hold these values instead, or raise and leave everything as it was."""

    def __iter__(self) -> Iterator[T]:
        """The values in their order."""

    def latest(self) -> T | None:
        """The last value, found without reading the others."""

    def stats(self) -> SliceStats:
        """What was lost."""

    def close(self) -> None:
        """Close what is open. Reading still works."""


class SliceFactory(Protocol):
    """Makes the storage of a type when it is first needed."""

    def create(self, kind: type[Any]) -> Slice[Any]:
        """A slice for values of this type, with what is already stored for it."""


class SliceView(Generic[T]):
    """A slice as reducers and callers read it."""

    def __init__(self, find: Callable[[], Slice[T]]) -> None:
        self._find = find

    def all(self) -> tuple[T, ...]:
        """Every value, in order."""
        return tuple(self._find())

    def latest(self) -> T | None:
        """The last value; None when there is none."""
        return self._find().latest()

    def where(self, predicate: Callable[[T], object]) -> tuple[T, ...]:
        """The values for which the predicate is true, in order."""
        return tuple(value for value in self._find() if predicate(value))

    @property
    def is_empty(self) -> bool:
        """Whether there is no value, found without reading them."""
        return self.latest() is None
