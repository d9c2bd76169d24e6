"""Closing: what is opened in a `with` block and closed by its end."""

from __future__ import annotations

from typing import Self


class Closing:
    """Makes a class with `close` a context manager."""

    __slots__ = ()

    def close(self) -> None:
        """End it; every class says what that means."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
