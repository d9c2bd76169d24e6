"""Following a run: the events that exist, then new ones, until it is closed."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Self

from stenograph.errors import SourceError
from stenograph.model.codec import encode
from stenograph.model.event import Event
from stenograph.runs.kind import Growth, Line
from stenograph.watch import FolderWatch

Masked = Callable[[Iterable[Event]], Iterator[Event]]


class Following:
    """The events of a run as they come: iterate it, with `for` or `async for`, until `close()`.

    A run that can no longer grow, such as that of a bundle, ends by itself.
    """

    def __init__(
        self,
        growth: Growth,
        masked: Masked | None = None,
        on_problem: Callable[[SourceError], None] | None = None,
    ) -> None:
        self._growth = growth
        self._masked = masked
        self._on_problem = on_problem
        self._stop = threading.Event()

    def close(self) -> None:
        """Stop following; may be called twice, and from any thread."""
        self._stop.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Event]:
        return (event for event, _ in self.with_lines())

    def with_lines(self) -> Iterator[tuple[Event, bytes]]:
        """Every event with its line: the exact one it was read from, where there is one and nothing is masked."""
        for look in self._looks():
            yield from look

    async def __aiter__(self) -> AsyncIterator[Event]:
        import asyncio

        looks = self._looks()
        try:
            while (lines := await asyncio.to_thread(_next, looks)) is not None:
                for event, _ in lines:
                    yield event
        finally:
            self._stop.set()  # a wait that was cancelled still runs in its thread; this ends it

    def _looks(self) -> Iterator[Iterator[tuple[Event, bytes]]]:
        """What each poll finds, to be consumed before the next one. The watch always starts before the poll."""
        watch = FolderWatch(self._growth.folders, self._stop)
        try:
            while not self._stop.is_set():
                yield self._new()
                if self._growth.is_over:
                    return
                if watch.folders == self._growth.folders:
                    watch.wait()
                else:
                    watch.close()
                    watch = FolderWatch(self._growth.folders, self._stop)
        finally:
            watch.close()
            self._growth.close()

    def _new(self) -> Iterator[tuple[Event, bytes]]:
        try:
            for event, line in self._masking(self._growth.new()):
                if self._stop.is_set():
                    return
                yield event, encode(event) if line is None else line
        except SourceError as error:
            if self._on_problem is None:
                raise
            self._on_problem(error)

    def _masking(self, lines: Iterator[Line]) -> Iterator[Line]:
        if self._masked is None:
            return lines
        return ((event, None) for event in self._masked(event for event, _ in lines))


def _next(looks: Iterator[Iterator[tuple[Event, bytes]]]) -> list[tuple[Event, bytes]] | None:
    look = next(looks, None)
    return None if look is None else list(look)
