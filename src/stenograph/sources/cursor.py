"""Reading one file with its parser: bytes become whole lines, and lines become events.

Theory of operation. The parser gets whole lines only; the rest waits here. `settle` also emits a last line
that lacks only its newline (`is_early`): the newline may never come. What was emitted before, in an earlier reading
or from another copy of the file, is not emitted again: the parser sees those lines, because it has a state, and
`EmittedLines` says which of its events are new. A document is not a series of lines: `settle` or `finish` parses it
whole.

A cursor opens nothing and needs no path. It can be pickled, and goes on when it is read back.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from stenograph.errors import FormatFailed, StenographError
from stenograph.formats.base import Context, Format, FormatSpec
from stenograph.model import mend
from stenograph.model.event import Event

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EmittedLines(Protocol):
    """Which lines of a file were emitted before."""

    @property
    def is_exhausted(self) -> bool:
        """Whether every following line is new."""

    def add(self, block: bytes) -> None:
        """Note whole lines that are all new."""

    def new_events(self, line: bytes, events: list[Event]) -> list[Event]:
        """The events of the next line that were not emitted before."""


class FileCursor:
    """Turns the bytes of a file into the events that are new."""

    path = ""
    """The file's path, for the message where its format fails."""

    def __init__(
        self, opening: Callable[[], Format], emitted: EmittedLines | None = None, *, is_document: bool = False
    ) -> None:
        """`opening` makes the parser when the first line has come; where it raises, it is called again later."""
        self.is_early = False
        """The last line was emitted without its newline."""
        self.is_flushed = False
        """The parser emitted what it held back, so reading cannot go on."""
        self.emitted = emitted
        """What was emitted before; None for nothing."""
        self.is_document = is_document
        self._opening: Callable[[], Format] | None = opening
        self._parser: Format | None = None
        self._partial: list[bytes] = []

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_parser": self.parser, "_opening": None, "path": ""}

    @property
    def parser(self) -> Format:
        """The parser, which is opened now if it was not yet."""
        if self._parser is None:
            assert self._opening is not None
            self._parser = self._opening()
        return self._parser

    def open(self) -> None:
        """Open the parser now. Raises `FormatFailed`."""
        _ = self.parser

    @property
    def is_open(self) -> bool:
        """Whether there is a parser yet."""
        return self._parser is not None

    @property
    def partial(self) -> bytes:
        """An unfinished line at the end that was not emitted."""
        return b"".join(self._partial)

    def is_continued_by(self, data: bytes) -> bool:
        """Whether these bytes can follow those that were read."""
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
            self.open()  # this may raise: no byte has been taken yet
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
        """The events that the parser holds back. If there are any, reading cannot go on with this cursor."""
        held = self._given(lambda: copy.deepcopy(self.parser).finish())
        self.is_flushed = bool(held)
        return held

    def finish(self) -> list[Event]:
        """All events that are left, at the end of a file that is read once: also of a last line that is not whole."""
        if self.is_document:
            return self._document()
        events = self._given(lambda: self.parser.feed(self.partial)) if self._partial else []
        self._partial = []
        return events + self._given(self.parser.finish)

    def _given(self, read: Callable[[], list[Event]]) -> list[Event]:
        """What the parser gives. Whatever it raises is a `FormatFailed`: a format must not end what others need."""
        parser = self.parser
        try:
            return read()
        except StenographError:
            raise
        except Exception as error:
            raise FormatFailed(parser.name, error, self.path) from error

    def _whole_lines(self, block: bytes) -> list[Event]:
        return self._given(lambda: self._new_events(block))

    def _new_events(self, block: bytes) -> list[Event]:
        emitted, parser = self.emitted, self.parser
        if emitted is None:
            return parser.feed(block)
        if emitted.is_exhausted:
            emitted.add(block)
            return parser.feed(block)
        events: list[Event] = []
        for line in block.split(b"\n")[:-1]:
            events += emitted.new_events(line, parser.feed(line + b"\n"))
        return events

    def _document(self) -> list[Event]:
        try:
            document, _ = mend.parse_json(self.partial.removeprefix(_BYTE_ORDER_MARK))
        except (ValueError, RecursionError):  # half written
            return []
        records: list[Any] = document if isinstance(document, list) else [document]
        return self._given(lambda: self._events_of(each for each in records if isinstance(each, dict)))

    def _events_of(self, records: Iterable[dict[str, Any]]) -> list[Event]:
        events = [event for each in records for event in self.parser.feed_object(each)]
        return events + self.parser.finish()


def opened_by(spec: FormatSpec, context: Context, path: str) -> Format:
    """A new parser of a format for the file with this path. Raises `FormatFailed`."""
    try:
        return spec.open(context)
    except StenographError:
        raise
    except Exception as error:
        raise FormatFailed(spec.name, error, path) from error


def is_record(line: bytes) -> bool:
    """Whether a line without its newline is whole: the beginning of an object or a list never is one."""
    try:
        return isinstance(mend.parse_json(line.removeprefix(_BYTE_ORDER_MARK))[0], dict | list)
    except (ValueError, RecursionError):
        return False
