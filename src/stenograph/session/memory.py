"""Slices in memory: fast, and gone with the process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

from msgspec import Struct

from stenograph.session.slice import Slice, SliceStats

T = TypeVar("T")


class MemorySlice(Generic[T]):
    """Values in a list."""

    def __init__(self) -> None:
        self._values: list[T] = []

    def append(self, value: T) -> None:
        """Add a value."""
        self._values.append(value)

    def replace(self, values: Iterable[T]) -> None:
        """Hold these values instead; a reader that has begun goes on with the old ones."""
        self._values = list(values)

    def __iter__(self) -> Iterator[T]:
        return iter(tuple(self._values))

    def latest(self) -> T | None:
        """The last value."""
        values = self._values
        return values[-1] if values else None

    def stats(self) -> SliceStats:
        """Nothing is ever lost here."""
        return SliceStats()

    def close(self) -> None:
        """Nothing is open here."""


class MemorySliceFactory(Struct, frozen=True):
    """Keeps values in memory."""

    def create(self, kind: type[Any]) -> Slice[Any]:
        """An empty slice."""
        return MemorySlice()
