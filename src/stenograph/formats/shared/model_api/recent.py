"""A cache of bounded size: the values that were not used for the longest time are dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")
LIMIT = 4096


class Recent(Generic[K, V]):
    """The latest values by their keys, so that a log of any length is read in constant memory."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._values: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """The value, if it is still known."""
        return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        """Remember a value as the latest."""
        self._values.pop(key, None)
        self._values[key] = value
        if len(self._values) > self._limit:
            del self._values[next(iter(self._values))]

    def ensure(self, key: K, make: Callable[[], V]) -> V:
        """The value, made when it is not known; it becomes the latest."""
        value = self._values.get(key)
        if value is None:
            value = make()
        self.put(key, value)
        return value

    def forget(self, key: K) -> None:
        """Forget a value."""
        self._values.pop(key, None)
