"""The plain-text transcripts of a capture: each unit when it has ended, the last one when the capture has."""

from __future__ import annotations

import os
from collections.abc import Callable

from stenograph.guard import Guard
from stenograph.model.event import Event
from stenograph.text_transcripts import ThreadTranscripts, ThreadWriting


class TextFiles:
    """Takes events in order. Never raises; the first failure to write is logged, and then it stops."""

    def __init__(self, transcripts: ThreadTranscripts, guard: Guard) -> None:
        self._guard = guard
        self._writing: ThreadWriting | None = transcripts.begin()
        self._pid = os.getpid()

    def add(self, event: Event) -> None:
        """Take the next event."""
        self._attempt(lambda writing: writing.add(event))

    def close(self) -> None:
        """Write the last units, and start over."""
        self._attempt(lambda writing: writing.close())

    def _attempt(self, step: Callable[[ThreadWriting], object]) -> None:
        writing = self._writing
        if writing is None or os.getpid() != self._pid:  # a forked child leaves them to its parent
            return
        self._writing = None
        self._guard.attempt("a text transcript", self._done, step, writing)

    def _done(self, step: Callable[[ThreadWriting], object], writing: ThreadWriting) -> None:
        step(writing)
        self._writing = writing
