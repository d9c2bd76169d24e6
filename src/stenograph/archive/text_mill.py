"""Texts on their way to the index: made searchable, a sack at a time, in the order in which they came."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from stenograph.archive.word_process import WordProcess

Words = list[tuple[int, bytes]]
Milled = Callable[[], Words]
"""Waits for the texts that were taken, and gives them."""


class TextMill:
    """Takes in the texts of events and gives them back searchable; a thread waits for the process that does it."""

    def __init__(self) -> None:
        self.size = 0
        """Bytes of text that came in and were not sent."""
        self._process = WordProcess()
        self._thread = ThreadPoolExecutor(1, "stenograph-words")
        self._events: list[int] = []
        self._texts: list[bytes] = []
        self._sacks: list[tuple[list[int], Future[list[bytes]]]] = []

    def add(self, event: int, text: bytes) -> None:
        """Take in the text of an event, in UTF-8."""
        self._events.append(event)
        self._texts.append(text)
        self.size += len(text)

    def send(self) -> None:
        """Begin with everything that came in."""
        if self._events:
            self._sacks.append((self._events, self._thread.submit(self._process.searchable, self._texts)))
            self._events, self._texts, self.size = [], [], 0

    def take(self) -> Milled:
        """Everything that was sent and not taken."""
        sacks, self._sacks = self._sacks, []
        return lambda: [pair for events, texts in sacks for pair in zip(events, texts.result(), strict=True)]

    def close(self) -> None:
        """Give up what is under way."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._process.close()
        self._thread.shutdown()
