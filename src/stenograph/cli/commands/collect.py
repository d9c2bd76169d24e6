"""`steno collect`: the process that follows a session of an agent and records it."""

from __future__ import annotations

import fcntl
import os
import resource
import threading
import time
from contextlib import suppress
from pathlib import Path

import click

from stenograph.adapters.following.collection import (
    SessionCollection,
    await_session,
    check_known,
    follow,
    session_in,
    unrecorded,
)
from stenograph.adapters.following.keeping import keep_store
from stenograph.cli.completion import FORMAT
from stenograph.cli.hook_call import LAST_STANDARD, lock_session
from stenograph.cli.options import json_option, print_json, say, write_text
from stenograph.cli.text_root import NO_PROMPT, TextOptions, text_options
from stenograph.errors import RunNotFound, StenographError, StoreError, StoreLocked
from stenograph.formats.base import FormatSpec
from stenograph.journal.place import recording_root
from stenograph.journal.problems import FOLDER, note
from stenograph.journal.reader import read_events
from stenograph.journal.recorder import Recorder
from stenograph.render.control_chars import on_one_line
from stenograph.runs.own_journals import index_later
from stenograph.sources.detection import format_named
from stenograph.sources.layouts import layout_of
from stenograph.text_transcripts import ThreadTranscripts

ENDING = b"SessionEnd"
"""The event of the hook call that ends a session."""
_END = 1 << 10
"""How many bytes of the last calls are kept, to find the last line in them."""
QUIET = 1.0
"""How many seconds without new data an ended session is still followed."""
TAKE_LOCK = 0
"""For --lock instead of a descriptor: no lock was passed on, so take the session's lock if it is free."""
RETRY = 2.0
"""Seconds before writing a journal is tried again."""


@click.command(
    "collect",
    epilog="Example: steno collect ~/.claude/projects/-home-me-shop/550e8400-e29b-41d4-a716-446655440000.jsonl",
)
@click.argument("path", metavar="[PATH]", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--session", metavar="ID", help="Instead of PATH: the session with this id, of the agent of --from.")
@click.option(
    "--root",
    metavar="DIR",
    help="Where the journal is kept.  [default: $STENOGRAPH_STORAGE or the archive]",
)
@click.option(
    "--from",
    "format_name",
    type=FORMAT,
    metavar="FORMAT",
    help="Read it as this format instead of detecting one; see steno formats.",
)
@click.option(
    "--idle",
    type=click.FloatRange(min=0),
    default=600.0,
    metavar="SECONDS",
    help="Stop when nothing has happened for this long.  [default: 600]",
)
@text_options
@json_option
@click.option(
    "--lock",
    type=click.IntRange(min=0),
    metavar="FD",
    help="The session's lock, passed on by `steno hook`; 0: take it.",
)
def command(
    path: Path | None,
    session: str | None,
    root: str | None,
    format_name: str | None,
    idle: float,
    texts: TextOptions,
    as_json: bool,
    lock: int | None,
) -> None:
    """Follow a session by its main file, which need not exist yet, and record it until nothing more happens.

    What the journal already holds is not recorded again. Prints the path of the journal. A session whose agent calls
    `steno hook` ends with the agent. With only --from, for an agent that keeps its sessions in a database, all of them
    are archived as the agent writes.
    """
    spec = None if format_name is None else format_named(format_name)
    is_store = path is None and session is None and spec is not None and _has_store(spec)
    if sum(map(bool, (path, session, is_store))) != 1 or (session and spec is None):
        raise click.UsageError(
            "give the PATH of a session, or --session and --from, or --from an agent with a database."
        )
    if texts.root:
        texts = texts._replace(root=os.path.abspath(texts.root))  # noqa: PTH100  # relative to the current folder, which we leave
    if lock is not None:
        _stand_alone(lock)
    place = recording_root(root)
    what = str(path or session or f"the store of {format_name}")
    try:
        if session is not None and spec is not None:
            path = _path_of(session, spec)
        path = None if path is None else path.absolute()
        if lock == TAKE_LOCK:
            assert path is not None
            lock = _lock_of(path, spec, place)
            if lock is None:
                return
        calls = None if lock is None else _Calls(lock)
        if path is None:
            assert spec is not None
            _Keeping(spec, idle, calls).run()
            return
        if spec is None:
            check_known(path)
        _Collecting(path, spec, place, idle, calls, _writing(texts, place, calls), as_json).run()
    except Exception as error:
        note(place, f"{what} is no longer recorded: {type(error).__name__}: {error}")  # our stderr is closed
        raise


def _has_store(spec: FormatSpec) -> bool:
    return spec.layout is not None and spec.layout.database is not None


def _path_of(session: str, spec: FormatSpec) -> Path:
    """The main file of a session. Raises `RunNotFound`."""
    layout = layout_of(spec.name)
    roots = layout.roots(os.environ, Path.home())
    found = next((path for root in roots if (path := layout.find(root, session)) is not None), None)
    if found is None:
        raise RunNotFound(f"{spec.agent.id} has no session {session} in {', '.join(map(str, roots))}", session)
    return found


def _lock_of(path: Path, spec: FormatSpec | None, place: Path) -> int | None:
    """The lock of a session; None if another process records it, or all of it is recorded.

    One process is started at the end of a turn, and another at the end of the session: the later one has nothing to
    record, and must not wait for more.
    """
    found = session_in(path, spec)
    with suppress(RunNotFound):
        if found is not None and not unrecorded(found, place):
            return None
    return lock_session(place / FOLDER, path.stem, "turn", only_if_free=True)


def _writing(texts: TextOptions, place: Path, calls: _Calls | None) -> ThreadTranscripts | None:
    """The writer of text transcripts. A bad thread name must not stop the recording of a session with hooks."""
    try:
        return texts.transcripts()
    except StenographError as error:
        if calls is None:
            raise
        note(place, f"text transcripts were not written: {error}")
        return None


def _stand_alone(lock: int) -> None:
    """Leave the folder, and close the files, that we have from the process that started us; the lock stays open."""
    os.chdir("/")
    last = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    kept = max(lock, LAST_STANDARD)
    os.closerange(LAST_STANDARD + 1, kept)
    os.closerange(kept + 1, last if last != resource.RLIM_INFINITY else 1 << 16)
    if lock != TAKE_LOCK:
        os.set_inheritable(lock, False)


class _Calls:
    """The hook calls of a session: each is a line in the session's file (`cli.hook_call`), whose lock we hold."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._seen = 0
        self._end = b""
        self.callers: set[int] = set()
        """The calling processes, if the calls name them."""

    @property
    def is_ended(self) -> bool:
        """Whether the last call reported the session's end, or all calling processes have ended."""
        has_left = bool(self.callers) and not any(map(_lives, self.callers))
        return has_left or self._end.rstrip().rpartition(b"\n")[2].split()[:1] == [ENDING]

    def read_new(self) -> bool:
        """Read the calls since the last time; whether there were any."""
        lines = os.pread(self._fd, 1 << 16, self._seen)
        self._seen += len(lines)
        self._end = (self._end + lines)[-_END:]
        calls = [line.split() for line in lines.splitlines()]
        self.callers |= {int(words[1]) for words in calls if len(words) > 1 and words[1].isdigit()}
        return bool(lines)

    def release(self) -> bool:
        """Release the lock; False if a call came meanwhile that found it taken, and we took it back."""
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        if not self.read_new():
            return True
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # the call has started another process like this one
            return True
        return False


class _Keeping:
    """Archives the store of one agent while its processes live or, if they are not known, while it changes."""

    def __init__(self, spec: FormatSpec, idle: float, calls: _Calls | None) -> None:
        self._spec = spec
        self._idle = idle
        self._calls = calls
        self._last_change = time.monotonic()

    def run(self) -> None:
        """Archive what is new until the end; go on if a call came at the last moment."""
        while True:
            keep_store(self._spec, self._goes_on)
            if self._calls is None or self._calls.release():
                return
            self._last_change = time.monotonic()

    def _goes_on(self, has_changed: bool) -> bool:
        if has_changed or (self._calls is not None and self._calls.read_new()):
            self._last_change = time.monotonic()
        limit = QUIET if self._calls is not None and self._calls.is_ended else self._idle
        return time.monotonic() - self._last_change < limit


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class _Collecting:
    """One session from the first line to the last."""

    def __init__(
        self,
        path: Path,
        spec: FormatSpec | None,
        root: Path,
        idle: float,
        calls: _Calls | None,
        texts: ThreadTranscripts | None,
        as_json: bool,
    ) -> None:
        self._path = path
        self._as_json = as_json
        self._spec = spec
        self._root = root
        self._idle = idle
        self._calls = calls
        self._texts = texts
        self._last_change = time.monotonic()
        self._last_problem = ""

    def run(self) -> None:
        """Record until the session is over; go on if a call came at the last moment."""
        while True:
            try:
                self._record()
            except StoreError as error:  # a new attempt continues the journal
                if not isinstance(error, StoreLocked):  # otherwise another process records the session
                    self._report(str(error))
                if self._goes_on():
                    time.sleep(RETRY)
                    continue
            if self._calls is None or self._calls.release():
                return
            self._last_change = time.monotonic()

    def _record(self) -> None:
        found = await_session(self._path, self._spec, self._goes_on)
        if found is None:
            self._report(f"no session was written to {self._path}; nothing was recorded")
            return
        collection = SessionCollection(found, self._root)
        try:
            if self._calls is None:
                self._print(collection.recorder)
            # A hook call wakes us, too.
            also = [self._root / FOLDER] if self._calls is not None else []
            for recorded in follow(collection, also, threading.Event()):
                for problem in collection.problems():
                    self._report(str(problem))
                if recorded:
                    self._last_change = time.monotonic()
                if not self._goes_on() and not collection.finish():  # go on if `finish` found more events
                    return
        finally:
            collection.close()
            self._write_texts(collection.recorder.path)
            self._index(collection.recorder.path)

    def _print(self, recorder: Recorder) -> None:
        if self._as_json:
            print_json({"run_id": recorder.run_id, "path": str(recorder.path)})
        else:
            write_text(f"{on_one_line(str(recorder.path))}\n")

    def _write_texts(self, journal: Path) -> None:
        if self._texts is not None:
            try:
                if not self._texts.write(read_events(journal)) and self._calls is None:
                    say(NO_PROMPT)
            except StenographError as error:
                self._report(f"text transcripts were not written: {error}")

    def _index(self, journal: Path) -> None:
        try:
            index_later([journal])
        except (OSError, StenographError) as error:
            self._report(f"what was recorded is not indexed yet: {error}; run: steno sync")

    def _goes_on(self) -> bool:
        """Whether the session may still grow: something happened within the time limit."""
        if self._calls is not None and self._calls.read_new():
            self._last_change = time.monotonic()
        limit = QUIET if self._calls is not None and self._calls.is_ended else self._idle
        return time.monotonic() - self._last_change < limit

    def _report(self, problem: str) -> None:
        if problem != self._last_problem:  # a failure that repeats is reported once
            self._last_problem = problem
            note(self._root, problem)
            if self._calls is None:
                say(problem)
