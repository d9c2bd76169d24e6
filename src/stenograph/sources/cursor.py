"""One file on its way through its parser: bytes become whole lines, and lines become events.

Theory of operation. The parser is given whole lines only; the rest waits here. `settle` also gives out a last line
that lacks only its newline (`is_early`): the newline may never come. What was given out before, in an earlier reading
or from another copy of the file, is not given out again: the parser sees those lines, because it has a memory, and
`GivenLines` says which of its events are new. A document is not a series of lines: it is parsed when it settles.

A cursor opens nothing and knows no path. It can be pickled, and goes on when it is read back.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Protocol

from stenograph.formats.base import Format
from stenograph.model import mend
from stenograph.model.event import Event

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class GivenLines(Protocol):
    """Which lines of a file were given out before."""

    @property
    def is_used_up(self) -> bool:
        """Whether every line from now on is new."""

    def add(self, block: bytes) -> None:
        """Take note of whole lines that are all new."""

    def new_events(self, line: bytes, events: list[Event]) -> list[Event]:
        """Those events of the next line that were not given out before."""


class FileCursor:
    """Turns the bytes of a file into the events that are new."""

    def __init__(
        self, opening: Callable[[], Format], given: GivenLines | None = None, *, is_document: bool = False
    ) -> None:
        """`opening` makes the parser when the first line is there; it may raise, and is then called again."""
        self.is_early = False
        """The last line was given out without its newline."""
        self.is_flushed = False
        """The parser gave what it held back: it cannot go on."""
        self.given = given
        """What was given out before; None for nothing."""
        self.is_document = is_document
        self._opening: Callable[[], Format] | None = opening
        self._parser: Format | None = None
        self._partial: list[bytes] = []

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_parser": self.parser, "_opening": None}

    @property
    def parser(self) -> Format:
        """The parser, which is opened now if it was not yet."""
        if self._parser is None:
            assert self._opening is not None
            self._parser = self._opening()
        return self._parser

    @property
    def is_open(self) -> bool:
        """Whether there is a parser yet."""
        return self._parser is not None

    @property
    def partial(self) -> bytes:
        """An unfinished line at the end that was not given out."""
        return b"".join(self._partial)

    def is_continued_by(self, data: bytes) -> bool:
        """Whether these bytes can stand after those that were read."""
        if self.is_document or self.is_flushed:
            return False
        return not self.is_early or data.startswith((b"\n", b"\r\n"))

    def feed(self, data: bytes) -> list[Event]:
        """The new events of every line that is complete by now."""
        if self.is_document:
            self._partial.append(data)
            return []
        end = data.rfind(b"\n") + 1
        if end and self._parser is None:
            _ = self.parser  # which may fail: nothing has been taken yet
        if self.is_early:
            rest = data.removeprefix(b"\r").removeprefix(b"\n")
            end -= len(data) - len(rest)
            data, self.is_early = rest, False
        if end <= 0:
            if data:
                self._partial.append(data)
            return []
        block = b"".join((*self._partial, data[:end])) if self._partial else data[:end]
        self._partial = [data[end:]] if end < len(data) else []
        return self._whole_lines(block)

    def settle(self) -> list[Event]:
        """The new events of a last line that lacks only its newline, and those of a document. Reading may go on."""
        if self.is_document:
            return self._document()
        if not self._partial or not is_record(line := self.partial):
            return []
        events = self._whole_lines(line + b"\n")
        self._partial, self.is_early = [], True
        return events

    def flush(self) -> list[Event]:
        """What the parser holds back. If that is anything, reading cannot go on with this cursor."""
        held = copy.deepcopy(self.parser).finish()
        self.is_flushed = bool(held)
        return held

    def finish(self) -> list[Event]:
        """All that is left, at the end of a file that is read once: also a last line that is not whole."""
        if self.is_document:
            return self._document()
        events = self.parser.feed(self.partial) if self._partial else []
        self._partial = []
        return events + self.parser.finish()

    def _whole_lines(self, block: bytes) -> list[Event]:
        given, parser = self.given, self.parser
        if given is None:
            return parser.feed(block)
        if given.is_used_up:
            given.add(block)
            return parser.feed(block)
        events: list[Event] = []
        for line in block.split(b"\n")[:-1]:
            events += given.new_events(line, parser.feed(line + b"\n"))
        return events

    def _document(self) -> list[Event]:
        try:
            document, _ = mend.parse_json(self.partial.removeprefix(_BYTE_ORDER_MARK))
        except (ValueError, RecursionError):  # half written
            return []
        records: list[Any] = document if isinstance(document, list) else [document]
        events = [event for each in records if isinstance(each, dict) for event in self.parser.feed_object(each)]
        return events + self.parser.finish()


def is_record(line: bytes) -> bool:
    """Whether a line without its newline is whole: the beginning of an object or a list never is one."""
    try:
        return isinstance(mend.parse_json(line.removeprefix(_BYTE_ORDER_MARK))[0], dict | list)
    except (ValueError, RecursionError):
        return False
