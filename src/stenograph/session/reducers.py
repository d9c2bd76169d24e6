"""Reducers: how an event changes a slice. Pure functions from a slice and an event to one operation, or to None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from msgspec import Struct

from stenograph.session.slice import SliceView

T = TypeVar("T")


class Append(Struct, Generic[T], frozen=True):
    """Add one value to the end; its cost does not depend on the number of values."""

    value: T


class Replace(Struct, Generic[T], frozen=True):
    """Hold these values instead; a LOG slice refuses it."""

    values: tuple[T, ...]


Reducer = Callable[[SliceView[Any], Any], Append[Any] | Replace[Any] | None]
"""Takes the slice and the event; None leaves the slice unchanged."""


def append_all(view: SliceView[T], event: T) -> Append[T]:
    """Keep every event, in order."""
    return Append(event)


def replace_latest(view: SliceView[T], event: T) -> Replace[T]:
    """Keep only the newest event."""
    return Replace((event,))


def upsert_by(key: Callable[[Any], object]) -> Reducer:
    """Keep one event per key: a new one replaces the old one, or goes to the end."""

    def upsert(view: SliceView[Any], event: Any) -> Append[Any] | Replace[Any]:
        wanted = key(event)
        values = view.all()
        if not any(key(value) == wanted for value in values):
            return Append(event)
        return Replace(tuple(event if key(value) == wanted else value for value in values))

    return upsert
