"""ThreadTranscripts: a run's units as plain-text files in a folder per thread.

`<root>/threads/<thread-id>/.meta/transcripts/{YYYYMMDD}-{HHmm}-{query}.txt`. Writing a run again writes the same files;
beyond `max_files` the oldest of ours go, and nothing that is not ours is ever touched.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from stenograph.errors import InvalidEvent, StoreError
from stenograph.fold.units import Unit, units
from stenograph.journal.whole_file import write_whole
from stenograph.model.event import Event
from stenograph.model.payload import MessagePayload
from stenograph.render.thread_file import ThreadFile
from stenograph.transcript import Projector, TranscriptEntry

DEFAULT_ROOT = ".leslie"
MAX_FILES = 50
_OURS = re.compile(r"\d{8}-\d{4}-.+\.txt", re.DOTALL)
_LONGEST_NAME = 200


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

    def folder(self, thread_id: str) -> Path:
        """Where a thread's transcripts are."""
        return self.root / "threads" / _check_name(thread_id) / ".meta" / "transcripts"

    def write(self, events: Iterable[Event]) -> list[Path]:
        """Write every unit of these events, and remove what is beyond the limit; the files that are there now."""
        written: dict[Path, None] = {}
        folders: set[Path] = set()
        try:
            for file in self._files(events):
                folder = self.folder(file.thread_id)
                folder.mkdir(parents=True, exist_ok=True)
                folders.add(folder)
                path = self._free_path(folder, file, written)
                write_whole(path, [file.text(self._zone).encode()])
                written[path] = None
            for folder in folders:
                _clean(folder, self._max_files)
        except OSError as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(
                f"cannot write {error.filename or self.root}: {error.strerror}; check the folder", str(self.root)
            ) from error
        return [path for path in written if path.exists()]

    def _files(self, events: Iterable[Event]) -> Iterator[ThreadFile]:
        projectors: dict[str, Projector] = {}
        for unit in units(events):
            projector = projectors.setdefault(unit.run_id, Projector())
            entries = [entry for event in unit.events for entry in projector.feed(event)]
            if unit.prompt is not None:
                yield self._file(unit, entries)

    def _file(self, unit: Unit, entries: list[TranscriptEntry]) -> ThreadFile:
        times = [entry.timestamp for entry in entries if entry.source == "main"] or [datetime.fromtimestamp(0, UTC)]
        session_id = next((entry.session_id for entry in entries if entry.session_id), None)
        return ThreadFile(
            thread_id=self._thread_id or unit.run_id,
            chat_id=self._chat_id or session_id or unit.run_id,
            start=times[0],
            end=max(times),
            mode=self._mode,
            stop_reason=_stop_reason(unit),
            entries=tuple(entries),
        )

    def _free_path(self, folder: Path, file: ThreadFile, written: dict[Path, None]) -> Path:
        """The unit's file: the one it was written to before, or a name that nobody has."""
        name = file.name(self._zone)
        identity = file.identity(self._zone)
        number = 1
        while True:
            path = folder / f"{name}.txt" if number == 1 else folder / f"{name}-{number}.txt"
            if path not in written and (not os.path.lexists(path) or _begins_with(path, identity)):
                return path
            number += 1


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


def _begins_with(path: Path, beginning: str) -> bool:
    """Whether a regular file of ours begins so; what cannot be read is not ours."""
    expected = beginning.encode("utf-8", "replace")
    try:
        if path.is_symlink() or not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(expected)) == expected
    except OSError:
        return False


def _clean(folder: Path, max_files: int) -> None:
    ours = [path for path in folder.iterdir() if _OURS.fullmatch(path.name) and _begins_with(path, "Thread ID: ")]
    oldest_first = sorted(ours, key=lambda path: (path.name[:13], path.stat().st_mtime_ns, path.name))
    for path in oldest_first[: max(0, len(ours) - max_files)]:
        path.unlink(missing_ok=True)
