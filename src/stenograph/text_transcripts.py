"""ThreadTranscripts: a run's units as plain-text files in a folder per thread.

`<root>/threads/<thread-id>/.meta/transcripts/{YYYYMMDD}-{HHmm}-{query}.txt`. Writing a run again writes the same files;
beyond `max_files` the oldest of ours are removed, and other files are never touched. Any number of OS threads and
processes may write at once: a writer holds the folder's lock while it looks for a free name.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from msgspec.structs import replace

from stenograph.atomic_file import make_folder, write_atomically
from stenograph.errors import InvalidEvent, StoreError
from stenograph.fold.calls import CallPairs
from stenograph.fold.units import Unit, UnitSplitter
from stenograph.model.event import Event
from stenograph.model.payload import MessagePayload
from stenograph.render.text_transcript import FILE_BYTES, FILE_CUT, TextTranscript
from stenograph.transcript import Projector, TranscriptEntry

DEFAULT_ROOT = ".leslie"
MAX_FILES = 50
_OURS = re.compile(r"\d{8}-\d{4}-.+\.txt", re.DOTALL)
_LONGEST_NAME = 200
_HEADER_END = b"\n---\n"
_REMEMBERED = 1000
"""The number of files for which a writer remembers the unit."""

_UnitKey = tuple[str, int, str]


class ThreadTranscripts:
    """Writes the plain-text transcripts of one thread, or of each run as a thread of its own."""

    def __init__(
        self,
        root: str | os.PathLike[str] = DEFAULT_ROOT,
        *,
        thread_id: str | None = None,
        chat_id: str | None = None,
        mode: str = "agent",
        max_files: int = MAX_FILES,
        zone: tzinfo | None = None,
    ) -> None:
        """`thread_id` is the run's id and `chat_id` its session's unless given; `zone` is the local one."""
        if thread_id is not None:
            _check_name(thread_id)
        if max_files < 1:
            raise InvalidEvent(f"max_files is {max_files!r}; it must be a whole number from 1")
        self.root = Path(root)
        self._thread_id = thread_id
        self._chat_id = chat_id
        self._mode = mode
        self._max_files = max_files
        self._zone = zone
        self._lock = threading.Lock()  # protects the field below
        self._units: dict[Path, _UnitKey] = {}

    def folder(self, thread_id: str) -> Path:
        """The folder of a thread's transcripts."""
        return self.root / "threads" / _check_name(thread_id) / ".meta" / "transcripts"

    def write(self, events: Iterable[Event]) -> list[Path]:
        """Write every unit of these events, and remove files beyond the limit; returns the paths that are left."""
        writing = self.begin()
        for event in events:
            writing.add(event)
        return writing.close()

    def begin(self) -> ThreadWriting:
        """Write a run while it goes on: `add` each event, and `close` at the end."""
        return ThreadWriting(self._write_unit, self._clean, self._max_files)

    def _write_unit(self, unit: Unit, entries: list[TranscriptEntry], calls: int) -> Path:
        file = self._file(unit, entries, calls)
        text = file.text(self._zone).encode()
        folder = self.folder(file.thread_id)
        with self._errors_named():
            make_folder(folder)
            with _locked(folder), self._lock:
                path = self._path(folder, file, text, _key(unit))
                write_atomically(path, [text])
                self._units[path] = _key(unit)
                if len(self._units) > _REMEMBERED:
                    del self._units[next(iter(self._units))]
        return path

    def _clean(self, folder: Path) -> None:
        with self._errors_named(), _locked(folder):
            _clean(folder, self._max_files)

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except OSError as error:
            raise StoreError(
                f"cannot write {error.filename or self.root}: {error.strerror}; check the folder", str(self.root)
            ) from error

    def _file(self, unit: Unit, entries: list[TranscriptEntry], calls: int) -> TextTranscript:
        times = [entry.timestamp for entry in entries] or [datetime.fromtimestamp(0, UTC)]
        session_id = next((entry.session_id for entry in entries if entry.session_id), None)
        return TextTranscript(
            thread_id=self._thread_id or _as_name(unit.run_id),
            chat_id=self._chat_id or session_id or unit.run_id,
            start=times[0],
            end=max(times),
            mode=self._mode,
            stop_reason=_stop_reason(unit),
            calls=calls,
            entries=tuple(entries),
        )

    def _path(self, folder: Path, file: TextTranscript, text: bytes, key: _UnitKey) -> Path:
        """The unit's file: the one it was written to before, or a free name."""
        name = file.name(self._zone)
        identity = file.identity(self._zone).encode("utf-8", "replace")
        number = 1
        while True:
            path = folder / f"{name}.txt" if number == 1 else folder / f"{name}-{number}.txt"
            if not os.path.lexists(path):
                return path
            if self._units.get(path, key) == key and _is_of_unit(_text_at(path), text, identity):
                return path
            number += 1


class ThreadWriting:
    """Writes the units of runs that go on, each when it has ended. For one OS thread at a time.

    Raises `StoreError` when a file cannot be written. Only events of `main` are kept until then.
    """

    def __init__(
        self, write: Callable[[Unit, list[TranscriptEntry], int], Path], clean: Callable[[Path], None], max_files: int
    ) -> None:
        self._write_unit = write
        self._clean = clean
        self._max_files = max_files
        self._units = UnitSplitter()
        self._projectors: dict[str, Projector] = {}
        self._pairs = CallPairs()
        self._calls: Counter[str] = Counter()
        """Tool calls in the current unit, by run."""
        self._written: dict[Path, None] = {}
        self._since_cleaned: Counter[Path] = Counter()

    def add(self, event: Event) -> None:
        """Take the next event."""
        joined = self._pairs.add(event, None)
        if event.source != "main":
            return
        unit = self._units.add(replace(event, raw=None, raw_b64=None))  # long, and not a part of the text
        if unit is not None:
            self._write(unit)
        if joined is not None:
            self._calls[event.run_id] += joined.change.calls

    def close(self) -> list[Path]:
        """Write the last units, and remove files beyond the limit; returns the paths that are left."""
        for unit in self._units.rest():
            self._write(unit)
        self._units = UnitSplitter()
        for folder in self._since_cleaned:
            self._clean(folder)
        return [path for path in self._written if path.exists()]

    def _write(self, unit: Unit) -> None:
        projector = self._projectors.setdefault(unit.run_id, Projector())
        entries = [entry for event in unit.events for entry in projector.feed(event)]
        calls = self._calls.pop(unit.run_id, 0)
        if unit.prompt is None:
            return
        path = self._write_unit(unit, entries, calls)
        self._written[path] = None
        self._since_cleaned[path.parent] += 1
        if self._since_cleaned[path.parent] > self._max_files:
            self._clean(path.parent)
            self._since_cleaned[path.parent] = 0


def _stop_reason(unit: Unit) -> str | None:
    reason = None
    for event in unit.events:
        if event.source == "main" and isinstance(event.payload, MessagePayload):
            reason = event.payload.stop_reason or reason
    return reason


def _check_name(thread_id: str) -> str:
    if not thread_id or thread_id.startswith(".") or len(thread_id) > _LONGEST_NAME or re.search(r"[/\\\0]", thread_id):
        raise InvalidEvent(f"{thread_id[:80]!r} cannot name a thread; use letters, digits, - and _")
    return thread_id


def _as_name(run_id: str) -> str:
    """A run id as the name of a thread; in a file of another program it may be any text."""
    return re.sub(r"[/\\\0]", "-", run_id).lstrip(".")[:_LONGEST_NAME] or "run"


def _key(unit: Unit) -> _UnitKey:
    """What identifies a unit; one whose events have no numbers is identified by its own number."""
    assert unit.prompt is not None
    return unit.run_id, unit.prompt.seq or -unit.number, unit.prompt.timestamp


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _text_at(path: Path) -> bytes:
    """The content of a regular file; empty for a file that cannot be read, which is not ours."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, 2 * FILE_BYTES) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(fd)


def _is_of_unit(found: bytes, text: bytes, identity: bytes) -> bool:
    """Whether a file was written for the same unit, when that was shorter or longer."""
    if not found.startswith(identity):
        return False
    before, now = _said(found), _said(text)
    return before.startswith(now) or now.startswith(before)


def _said(text: bytes) -> bytes:
    return text.partition(_HEADER_END)[2].removesuffix(FILE_CUT.encode()).removesuffix(b"\n")


def _clean(folder: Path, max_files: int) -> None:
    ours = [
        path for path in folder.iterdir() if _OURS.fullmatch(path.name) and _text_at(path).startswith(b"Thread ID: ")
    ]
    oldest_first = sorted(ours, key=lambda path: (path.name[:13], path.stat().st_mtime_ns, path.name))
    for path in oldest_first[: max(0, len(ours) - max_files)]:
        path.unlink(missing_ok=True)
