"""One run as every kind that can be opened: an agent's file, its folder, a journal, an archived run, a bundle."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from archive_cases import SESSION, claude_line, session_path, subagent_path, synced, written
from opencode_database import create_tables, insert
from stenograph import Recorder, read_events
from stenograph.bundle import BundleOptions, create_bundle
from stenograph.model import Event, LifecyclePayload
from stenograph.sources import convert

PATIENCE = 60
"""Seconds after which something hangs; nothing is measured by it."""
KINDS = ("agent file", "folder", "journal", "archived", "bundle")
DATABASE_SESSION = "ses_0000000000000000000000000a"


def make_session(home: Path) -> Path:
    """A session of Claude Code with calls, one of which failed and one of which is open, and a subagent."""
    failed = claude_line(6, "result", "no such file")
    failed = failed.replace(b'"type": "tool_result"', b'"type": "tool_result", "is_error": true')
    main = written(
        session_path(home),
        claude_line(1, text="Mend the parser."),
        claude_line(2, "call", "ls"),
        claude_line(3, "result", "a.py"),
        claude_line(4, "assistant", "I found it."),
        claude_line(5, "call", "cat b.py"),
        failed,
        claude_line(7, text="And the tests?"),
        claude_line(8, "call", "pytest"),
    )
    written(
        subagent_path(home),
        claude_line(11, text="Look around.", isSidechain=True, agentId="a1"),
        claude_line(12, "assistant", "Nothing there.", isSidechain=True, agentId="a1"),
    )
    return main


def make_kinds(folder: Path) -> dict[str, Path]:
    """Every kind of the same run, as targets; `archive` is the folder of its archive, `root` that of its journal."""
    home, archive, root = folder / "home", folder / "archive", folder / "storage"
    main = make_session(home)
    synced(home, archive)
    with Recorder(root, run_id=SESSION) as recorder:
        for event in convert(main):
            recorder.append(event)
    options = BundleOptions(environment=False, page=False)
    bundle = create_bundle(folder / "run.zip", read_events(recorder.path), options=options)
    return {
        "agent file": main,
        "folder": main.parent,
        "journal": recorder.path,
        "archived": Path(SESSION),
        "bundle": bundle,
        "archive": archive,
        "root": root,
        "home": home,
    }


def make_database(path: Path, sessions: Iterable[str] = (DATABASE_SESSION,)) -> Path:
    """An OpenCode database with a message in each session."""
    with sqlite3.connect(path) as connection:
        create_tables(connection)
        for number, session in enumerate(sessions):
            insert(
                connection,
                {"table": "session", "id": session, "directory": "/w", "time_created": 1_760_000_000_000 + number},
            )
            say(connection, session, 1, "Hello there.")
    connection.close()
    return path


def say(connection: sqlite3.Connection, session: str, number: int, text: str) -> None:
    """One more message of the user in a session."""
    made = 1_760_000_000_000 + number
    message = {"role": "user", "time": {"created": made}}
    common = {"session_id": session, "time_created": made, "time_updated": made}
    identity = f"msg_{session[-1]}{number:04}"
    insert(connection, {"table": "message", "id": identity, "data": message, **common})
    part = {"type": "text", "text": text}
    insert(connection, {"table": "part", "id": f"prt_{identity}", "message_id": identity, "data": part, **common})


def told(events: Iterable[Event]) -> dict[str, list[Any]]:
    """What each source said and did, in order, without what depends on where it was read."""
    by_source: dict[str, list[Any]] = defaultdict(list)
    for event in events:
        payload = event.payload
        if isinstance(payload, LifecyclePayload):  # which lines stand before the end depends on the journal
            payload = replace(payload, evidence=None)
        by_source[event.source].append((event.run_id, event.type, event.timestamp, payload))
    return dict(by_source)


class Taking:
    """Takes events from something that is followed, in a thread of its own."""

    def __init__(self, events: Any) -> None:
        self._events = events
        self._queue: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._take)
        self._thread.start()

    def _take(self) -> None:
        try:
            for event in self._events:
                self._queue.put(event)
            self._queue.put(None)
        except BaseException as error:  # noqa: BLE001  # it is raised where the test waits
            self._queue.put(error)

    def next(self, number: int) -> list[Event]:
        """The next events; fewer when there will be no more."""
        taken: list[Event] = []
        while len(taken) < number:
            event = self._queue.get(timeout=PATIENCE)
            if isinstance(event, BaseException):
                raise event
            if event is None:
                break
            taken.append(event)
        return taken

    def end(self) -> list[Event]:
        """Close it; what had not been taken."""
        self._events.close()
        self._thread.join(PATIENCE)
        return self.next(1 << 30)
