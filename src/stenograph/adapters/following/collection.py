"""Records a session from the agent's own files.

Theory of operation. The journal is the only state: what it holds of the session is not recorded again. So the next
process continues where the last one stopped, even if that was killed between two events of a line. A write error
therefore ends a collection, and a new one loses nothing.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from stenograph.adapters.following.following import Following
from stenograph.errors import SourceError, unknown_format
from stenograph.formats.base import FormatSpec, run_id_of
from stenograph.journal.place import Root, journal_path
from stenograph.journal.reader import read_events
from stenograph.journal.recorder import Recorder
from stenograph.model.codec import encode
from stenograph.model.event import Event
from stenograph.sources.conversion import convert
from stenograph.sources.detection import Detection, detect_file
from stenograph.sources.known import known_lines
from stenograph.sources.layouts import layout_of
from stenograph.sources.session_tail import SessionTail
from stenograph.watch import Changes

_TICK = 0.5
_FIRST_LOOK = 0.1


class SessionCollection:
    """Records one session: each line of its files once, in the order of the files. For one thread at a time."""

    def __init__(self, found: Detection, root: Root) -> None:
        """`found` is the session's main file. Raises `StoreError` if its journal cannot be written."""
        assert found.spec is not None
        parent = found.identity.parent_native_id
        main = Path(found.path)
        self.recorder = Recorder(
            root,
            run_id=found.run_id,
            parent_run_id=None if parent is None else run_id_of(found.spec.name, parent),
        )
        known = known_lines(read_events(self.recorder.path))
        self._tail = SessionTail(main, found.spec, run_id=found.run_id, known=known)
        self._found = found
        self._is_whole = _is_read_whole(found)

    @property
    def folders(self) -> frozenset[Path]:
        """The folders to watch now."""
        return self._tail.folders

    def read(self, changed: Collection[str] | None = None) -> int:
        """Record complete lines, of the `changed` paths or of all; returns the number of events."""
        return 0 if self._is_whole else self._record(self._tail.read(changed))

    def finish(self) -> int:
        """Record the rest, including a last line without its newline. Reading may continue later."""
        if not self._is_whole:
            return self._record(self._tail.finish())
        recorder = self.recorder
        return self._record([list(_unrecorded_events(self._found, recorder.path))])

    def problems(self) -> list[SourceError]:
        """What could not be read since the last call."""
        problems, self._tail.problems = self._tail.problems, []
        return problems

    def close(self) -> None:
        """Close the journal and the files."""
        self._tail.close()
        self.recorder.close()

    def _record(self, batches: Iterable[list[Event]]) -> int:
        recorded = 0
        for events in batches:
            for event in events:
                self.recorder.append(event)
            recorded += len(events)
        return recorded


def unrecorded(found: Detection, root: Path) -> int:
    """How many events a session has that its journal, which another process may be writing, does not have yet.

    Raises `SourceError` where the journal cannot be read.
    """
    assert found.spec is not None
    journal = journal_path(Path(root), found.run_id)
    if _is_read_whole(found):
        return sum(1 for _ in _unrecorded_events(found, journal))
    events = read_events(journal)
    tail = SessionTail(Path(found.path), found.spec, run_id=found.run_id, known=known_lines(events))
    try:
        return sum(map(len, tail.finish()))
    finally:
        tail.close()


def _unrecorded_events(found: Detection, journal: Path) -> Iterator[Event]:
    """The events of a session, read whole, that its journal does not have from an earlier recording."""
    assert found.spec is not None
    known = Counter(_content(event) for event in read_events(journal))
    is_one_of_many = layout_of(found.spec.name).stored(Path(found.path)) is not None
    for event in convert(
        Path(f"{found.path}#{found.identity.native_id}" if is_one_of_many else found.path), found.spec
    ):
        content = _content(event)
        if event.run_id != found.run_id:
            continue
        if known[content]:
            known[content] -= 1
        else:
            yield event


def _content(event: Event) -> bytes:
    """An event without its place and the time derived from it, since both differ in a later reading."""
    origin = None if event.origin is None else replace(event.origin, line=None)
    timestamp = "" if origin is not None and origin.time is not None else event.timestamp
    return encode(replace(event, seq=0, timestamp=timestamp, origin=origin, raw=None, raw_b64=None))


def await_session(path: Path, spec: FormatSpec | None, goes_on: Callable[[], bool]) -> Detection | None:
    """Wait for the session of this main file until it has a line; None if the wait was ended."""
    while True:
        if (found := session_in(path, spec)) is not None:
            return found
        if not goes_on():
            return None
        time.sleep(_FIRST_LOOK)


def session_in(path: Path, spec: FormatSpec | None = None) -> Detection | None:
    """The session of this main file, if it has a line in a known format."""
    try:
        found = detect_file(path, spec)
        with path.open("rb") as file:
            has_line = file.readline().endswith(b"\n")
    except OSError:
        return None
    if found.spec is None or not (has_line or _is_read_whole(found)):
        return None
    return found


def check_known(path: Path) -> None:
    """Refuse a file with lines in an unknown format; a file that does not exist yet is accepted."""
    try:
        with path.open("rb") as file:
            has_line = file.readline().endswith(b"\n")
    except OSError:
        return
    if has_line and detect_file(path).spec is None:
        raise unknown_format(str(path))


def _is_read_whole(found: Detection) -> bool:
    """Whether a session is not a growing file of lines, so that it is read once, at the end."""
    assert found.spec is not None
    return found.is_document or layout_of(found.spec.name).stored(Path(found.path)) is not None


def follow(collection: SessionCollection, also: Collection[Path], stop: threading.Event) -> Iterator[int]:
    """Record as the session grows; yields the number of events at every change and every half second.

    Changes in the folders `also` wake it up, too. It ends when `stop` is set.
    """
    following = Following(
        lambda changed, _: collection.read(changed), lambda: collection.folders | frozenset(also), stop
    )
    changed: Changes = None
    try:
        while not stop.is_set():
            yield following.look(changed)
            changed = following.wait(_TICK)
    finally:
        following.close()
