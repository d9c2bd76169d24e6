"""`steno collect`: the process that follows a session of an agent and records it."""

from __future__ import annotations

import fcntl
import os
import resource
import threading
import time
from pathlib import Path

import click

from stenograph.adapters.following.collection import SessionCollection, await_session, check_known, follow
from stenograph.cli.completion import FORMAT
from stenograph.cli.options import json_option, print_json, say, write_text
from stenograph.cli.text_root import NO_PROMPT, TextOptions, text_options
from stenograph.errors import StenographError, StoreError, StoreLocked
from stenograph.formats.base import FormatSpec
from stenograph.journal.place import recording_root
from stenograph.journal.problems import FOLDER, note
from stenograph.journal.reader import read_events
from stenograph.journal.recorder import Recorder
from stenograph.render.visible import on_one_line
from stenograph.runs.own_journals import index_later
from stenograph.sources.detection import format_named
from stenograph.threads import ThreadTranscripts

ENDING = b"SessionEnd\n"
QUIET = 1.0
"""Seconds without anything new after which an ended session is over."""
RETRY = 2.0
"""Seconds until a journal that could not be written is tried again."""


@click.command(
    "collect",
    epilog="Example: steno collect ~/.claude/projects/-home-me-shop/550e8400-e29b-41d4-a716-446655440000.jsonl",
    short_help="Follow a session of an agent and record it.",
)
@click.argument("path", metavar="PATH", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--root",
    metavar="DIR",
    help="Where the journal is kept.  [default: $STENOGRAPH_STORAGE or the archive]",
)
@click.option(
    "--from", "format_name", type=FORMAT, metavar="FORMAT", help="Take this format as given; steno formats lists them."
)
@click.option(
    "--idle",
    type=click.FloatRange(min=0),
    default=600.0,
    metavar="SECONDS",
    help="End when nothing has happened for so long.  [default: 600]",
)
@text_options
@json_option
@click.option("--lock", type=click.IntRange(min=3), metavar="FD", help="The session's lock, from `steno hook`.")
def command(
    path: Path,
    root: str | None,
    format_name: str | None,
    idle: float,
    texts: TextOptions,
    as_json: bool,
    lock: int | None,
) -> None:
    """Follow a session by its main file, which need not exist yet, and record it until nothing happens any more.

    What the session's journal holds already is not recorded again. Prints the path of the journal. A session whose
    agent calls `steno hook` ends with the agent.
    """
    if texts.root:
        texts = texts._replace(root=os.path.abspath(texts.root))  # noqa: PTH100  # before we leave the folder
    if lock is not None:
        _stand_alone(lock)
    path, place = path.absolute(), recording_root(root)
    try:
        spec = None if format_name is None else format_named(format_name)
        if spec is None:
            check_known(path)
        calls = None if lock is None else _Calls(lock)
        _Collecting(path, spec, place, idle, calls, _writing(texts, place, calls), as_json).run()
    except Exception as error:
        note(place, f"{path} is no longer recorded: {type(error).__name__}: {error}")  # nobody reads our stderr
        raise


def _writing(texts: TextOptions, place: Path, calls: _Calls | None) -> ThreadTranscripts | None:
    """What writes the text transcripts; a thread of a wrong name is no reason not to record a session of hooks."""
    try:
        return texts.transcripts()
    except StenographError as error:
        if calls is None:
            raise
        note(place, f"the text transcripts are not written: {error}")
        return None


def _stand_alone(lock: int) -> None:
    """Hold on to nothing of whoever started us: neither its folder nor its open files."""
    os.chdir("/")
    last = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    os.closerange(3, lock)
    os.closerange(lock + 1, last if last != resource.RLIM_INFINITY else 1 << 16)
    os.set_inheritable(lock, False)


class _Calls:
    """The hook calls of a session: their events in a file, whose lock is ours."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._seen = 0
        self._last = b""

    @property
    def is_ended(self) -> bool:
        """Whether the last call said that the session ended."""
        return self._last.endswith(ENDING)

    def came(self) -> bool:
        """Whether there were calls since this was asked last."""
        told = os.pread(self._fd, 1 << 16, self._seen)
        self._seen += len(told)
        self._last = (self._last + told)[-len(ENDING) :]
        return bool(told)

    def let_go(self) -> bool:
        """Give the lock up; False when a call came that found it taken, and so it is ours again."""
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        if not self.came():
            return True
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # the call has started another one of us
            return True
        return False


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
        self._moved = time.monotonic()
        self._told = ""

    def run(self) -> None:
        """Record until the session is over, and again when it is not after all."""
        while True:
            try:
                self._record()
            except StoreError as error:  # the journal has what it has; a new attempt goes on from there
                if not isinstance(error, StoreLocked):  # somebody else records the session, which is as good
                    self._tell(str(error))
                if self._goes_on():
                    time.sleep(RETRY)
                    continue
            if self._calls is None or self._calls.let_go():
                return
            self._moved = time.monotonic()

    def _record(self) -> None:
        found = await_session(self._path, self._spec, self._goes_on)
        if found is None:
            self._tell(f"no session was written to {self._path}; nothing was recorded")
            return
        collection = SessionCollection(found, self._root)
        try:
            if self._calls is None:
                self._print(collection.recorder)
            also = [self._root / FOLDER] if self._calls is not None else []
            for recorded in follow(collection, also, threading.Event()):
                for problem in collection.problems():
                    self._tell(str(problem))
                if recorded:
                    self._moved = time.monotonic()
                if not self._goes_on() and not collection.finish():
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
                self._tell(f"the text transcripts are not written: {error}")

    def _index(self, journal: Path) -> None:
        try:
            index_later([journal])
        except (OSError, StenographError) as error:
            self._tell(f"what was recorded is not indexed yet: {error}; run: steno sync")

    def _goes_on(self) -> bool:
        """Whether something may still come."""
        if self._calls is not None and self._calls.came():
            self._moved = time.monotonic()
        limit = QUIET if self._calls is not None and self._calls.is_ended else self._idle
        return time.monotonic() - self._moved < limit

    def _tell(self, problem: str) -> None:
        if problem != self._told:  # an attempt that fails as the last one did is no news
            self._told = problem
            note(self._root, problem)
            if self._calls is None:
                say(problem)
