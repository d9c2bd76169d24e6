"""Agents' files while they are followed: lines of a session, rows of a database, documents that are rewritten.

The events are numbered in the order in which they are returned. What is there at the beginning comes in the order of
`steno convert`, so it has the numbers that reading the file gives.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import force_setattr

from stenograph.formats.base import Format, FormatSpec
from stenograph.formats.layout import StoredSession
from stenograph.model.event import Event
from stenograph.runs.kind import Line
from stenograph.sources.conversion import convert
from stenograph.sources.cursor import opened_by
from stenograph.sources.detection import Detection, detect_file
from stenograph.sources.known import digest_of
from stenograph.sources.layouts import layout_of
from stenograph.sources.merge import merged
from stenograph.sources.session import context_of, stored_file
from stenograph.sources.session_tail import SessionTail
from stenograph.sources.stored import chosen


class _Numbers:
    """Numbers events from 1, and leaves out those before the requested one."""

    def __init__(self, from_seq: int) -> None:
        self._from_seq = from_seq
        self._last = 0

    def lines(self, events: Iterable[Event]) -> Iterator[Line]:
        for event in events:
            self._last += 1
            if event.seq == 0:
                force_setattr(event, "seq", self._last)
            if event.seq >= self._from_seq:
                yield event, None


class SessionGrowth:
    """A session of JSON Lines, with the files of its subagents as they appear."""

    is_over = False

    def __init__(self, path: Path, found: Detection, from_seq: int) -> None:
        assert found.spec is not None
        self._tail = SessionTail(path, found.spec)
        self._numbers = _Numbers(from_seq)
        self._has_members = bool(layout_of(found.spec.name).members(found, detect_file))

    @property
    def folders(self) -> frozenset[Path]:
        """The current folders of the session."""
        return self._tail.folders

    def new(self) -> Iterator[Line]:
        """Whole lines that were added, in order per file."""
        batches = self._tail.read()
        if self._has_members:  # what is there at first is merged as in a conversion
            self._has_members = False
            yield from self._numbers.lines(merged(_by_file(batches)))
        else:
            yield from self._numbers.lines(event for batch in batches for event in batch)
        problems, self._tail.problems = self._tail.problems, []
        if problems:
            raise problems[0]

    def close(self) -> None:
        """Close all files."""
        self._tail.close()


def _by_file(batches: Iterable[list[Event]]) -> list[list[Event]]:
    series: dict[str | None, list[Event]] = {}
    for batch in batches:
        origin = batch[0].origin
        series.setdefault(None if origin is None else origin.file, []).extend(batch)
    return list(series.values())


class DatabaseGrowth:
    """A session of a database, with those of its subagents: new rows, and rows that changed."""

    is_over = False

    def __init__(self, path: Path, found: Detection, session: str | None, from_seq: int) -> None:
        self._path = path
        self._found = found
        self._session = session
        self._numbers = _Numbers(from_seq)
        self._parsers: dict[str, tuple[Format, set[bytes]]] = {}
        self.folders = frozenset([path.parent])

    def new(self) -> Iterator[Line]:
        """The events of rows that are new or changed."""
        assert self._found.spec is not None
        stored = layout_of(self._found.spec.name).stored(self._path)
        assert stored is not None
        with stored as sessions:
            series = [self._events(each) for each in chosen(sessions, self._session, self._found)]
        yield from self._numbers.lines(merged(series))

    def _events(self, session: StoredSession) -> list[Event]:
        parser, known = self._parsers.setdefault(session.identity.source, (self._parser(session), set()))
        events: list[Event] = []
        for line in session.lines():
            digest = digest_of(line)
            if digest not in known:
                known.add(digest)
                events += parser.feed(line)
        return events

    def _parser(self, session: StoredSession) -> Format:
        inside, member = stored_file(self._found, session)
        assert inside.spec is not None
        return opened_by(inside.spec, context_of(inside, None, member), str(self._path))

    def close(self) -> None:
        """Nothing stays open."""


class DocumentGrowth:
    """One JSON document, on one or many lines, which its owner rewrites: what comes after the last event."""

    is_over = False

    def __init__(self, path: Path, spec: FormatSpec, from_seq: int) -> None:
        self._path = path
        self._spec = spec
        self._next = from_seq
        self._seen: tuple[int, int, int] | None = None
        self.folders = frozenset([path.parent])

    def new(self) -> Iterator[Line]:
        """The events after the last one, once the document is complete again."""
        status = os.stat(self._path) if self._path.exists() else None  # noqa: PTH116  # one call for three numbers
        seen = None if status is None else (status.st_ino, status.st_size, status.st_mtime_ns)
        if seen is None or seen == self._seen or detect_file(self._path).spec is not self._spec:  # half written
            return
        self._seen = seen
        for event in convert(self._path, self._spec):
            if event.seq >= self._next:
                self._next = event.seq + 1
                yield event, None

    def close(self) -> None:
        """Nothing stays open."""
