"""Texts on their way to the index: made searchable, a sack at a time, in the order in which they came."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from stenograph.archive.word_process import WordProcess

_SACK = 1 << 20
Words = list[tuple[int, bytes]]
Milled = Callable[[], Words]
"""Waits for the texts that were taken, and gives them."""


@dataclass(frozen=True, slots=True)
class _Sack:
    events: list[int]
    texts: Future[list[bytes]]
    size: int


class TextMill:
    """Takes in the texts of events and gives them back searchable; a thread waits for the process that does it."""

    def __init__(self) -> None:
        self.size = 0
        """Bytes of text that came in and were not taken."""
        self._process = WordProcess()
        self._thread = ThreadPoolExecutor(1, "stenograph-words")
        self._events: list[int] = []
        self._texts: list[bytes] = []
        self._unsent = 0
        self._sacks: list[_Sack] = []

    def add(self, event: int, text: bytes) -> None:
        """Take in the text of an event, in UTF-8."""
        self._events.append(event)
        self._texts.append(text)
        self.size += len(text)
        self._unsent += len(text)
        if self._unsent >= _SACK:
            self._send()

    def take(self) -> Milled:
        """Everything that came in and was not taken."""
        self._send()
        return self._taken(len(self._sacks))

    def take_done(self) -> Milled:
        """The same without what is not done yet; the next sack where nothing is."""
        if not self._sacks:
            self._send()
        done = (place for place, sack in enumerate(self._sacks) if not sack.texts.done())
        return self._taken(max(1, next(done, len(self._sacks))))

    def _taken(self, number: int) -> Milled:
        sacks, self._sacks = self._sacks[:number], self._sacks[number:]
        self.size -= sum(sack.size for sack in sacks)

        def milled() -> Words:
            return [pair for sack in sacks for pair in zip(sack.events, sack.texts.result(), strict=True)]

        return milled

    def _send(self) -> None:
        if self._events:
            texts = self._thread.submit(self._process.searchable, self._texts)
            self._sacks.append(_Sack(self._events, texts, self._unsent))
            self._events, self._texts, self._unsent = [], [], 0

    def close(self) -> None:
        """Give up what is under way."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._process.close()
        self._thread.shutdown()
