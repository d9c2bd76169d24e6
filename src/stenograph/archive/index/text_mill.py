"""Texts on their way to the index: made searchable, a sack at a time, each by the ids of its events."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from stenograph.archive.index.word_process import WordProcess

_SACK = 1 << 20
Words = list[tuple[int, bytes]]


class TextMill:
    """Takes in the texts of events and gives them back searchable; a thread waits for the process that does it."""

    def __init__(self) -> None:
        self.size = 0
        """Bytes of text that came in and were not sent."""
        self._process = WordProcess()
        self._thread = ThreadPoolExecutor(1, "stenograph-words")
        self._words: Words = []
        self._sacks: deque[Future[Words]] = deque()

    def add(self, event: int, text: bytes) -> None:
        """Take in the text of an event, in UTF-8."""
        self._words.append((event, text))
        self.size += len(text)

    def send(self) -> None:
        """Begin with everything that came in."""
        words = sorted(self._words)
        self._words, self.size = [], 0
        start = size = 0
        for place, (_, text) in enumerate(words, 1):
            size += len(text)
            if size >= _SACK or place == len(words):
                self._sacks.append(self._thread.submit(self._milled, words[start:place]))
                start, size = place, 0

    def take(self) -> Iterator[Words]:
        """What was sent and not taken, a sack at a time. Waits for each, and forgets it."""
        sacks, self._sacks = self._sacks, deque()
        return (sacks.popleft().result() for _ in range(len(sacks)))

    def _milled(self, words: Words) -> Words:
        texts = self._process.searchable([text for _, text in words])
        return [(event, text) for (event, _), text in zip(words, texts, strict=True)]

    def close(self) -> None:
        """Give up what is under way."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._process.close()
        self._thread.shutdown()
