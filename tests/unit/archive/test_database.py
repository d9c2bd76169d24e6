"""OpenCode's database: its sessions are kept row by row, as they change."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from archive_cases import rows, synced, whole_index
from opencode_database import create_tables, insert
from stenograph.archive import IndexReader
from stenograph.archive.store.restore import restore_files
from stenograph.sources.layouts import layout_of

GOLDEN = Path(__file__).parents[2] / "golden" / "opencode" / "text" / "input.jsonl"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with the database of one golden session."""
    home = tmp_path / "home"
    path = database_path(home)
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        create_tables(connection)
        for line in GOLDEN.read_bytes().splitlines():
            insert(connection, json.loads(line))
    return home


def database_path(home: Path) -> Path:
    """Where OpenCode keeps it."""
    return home / ".local" / "share" / "opencode" / "opencode.db"


def test_a_session_is_kept_and_an_idle_database_is_left_alone(home: Path, tmp_path: Path) -> None:
    """The session is a run with its messages; the second sync reads nothing."""
    archive = tmp_path / "archive"
    assert synced(home, archive).new == 1
    assert rows(archive, "SELECT agent, turns FROM runs") == [("opencode", 1)]
    again = synced(home, archive)
    assert (again.new, again.grown, again.events, again.bytes_read) == (0, 0, 0, 0)


def test_only_changed_rows_are_added(home: Path, tmp_path: Path) -> None:
    """A row that changed is appended and nothing else is; a rebuild without the database gives the same index."""
    archive = tmp_path / "archive"
    synced(home, archive)
    with closing(sqlite3.connect(database_path(home), isolation_level=None)) as connection:
        connection.execute("UPDATE session SET title = 'another title', time_updated = time_updated + 1")
    summary = synced(home, archive)
    assert (summary.new, summary.grown) == (0, 1)
    assert summary.bytes_written < 2000
    before = whole_index(archive)
    database_path(home).unlink()
    synced(home, archive, rebuild=True)
    assert whole_index(archive) == before


SESSION = "ses_of_many_parts"
MESSAGE = "msg_of_many_parts"


def part(connection: sqlite3.Connection, number: int, text: str, *, is_noted: bool = True) -> None:
    """A part that is new or has another text now; as OpenCode does it, with a note of the change."""
    key = f"prt_{number:06}"
    made = 1_790_000_000_000
    data = json.dumps({"type": "text", "text": text, "time": {"start": made, "end": made + 1}})
    connection.execute("DELETE FROM part WHERE id = ?", (key,))
    connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", (key, MESSAGE, SESSION, made, made, data))
    if is_noted:
        (last,) = connection.execute("SELECT max(seq) FROM event WHERE aggregate_id = ?", (SESSION,)).fetchone()
        seq = 0 if last is None else last + 1
        note = json.dumps({"sessionID": SESSION, "part": {"id": key, "messageID": MESSAGE}})
        row = (f"evt_{SESSION}_{seq}", SESSION, seq, "message.part.updated.1", note)
        connection.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?)", row)
        connection.execute("DELETE FROM event_sequence WHERE aggregate_id = ?", (SESSION,))
        connection.execute("INSERT INTO event_sequence VALUES (?, ?)", (SESSION, seq))


@pytest.fixture
def long_session(home: Path) -> Path:
    """The same database with another session of three megabytes."""
    path = database_path(home)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        made = 1_790_000_000_000
        session = {"table": "session", "id": SESSION, "time_created": made, "time_updated": made, "directory": "/x"}
        insert(connection, session)
        message = {"table": "message", "id": MESSAGE, "session_id": SESSION, "time_created": made, "time_updated": made}
        insert(connection, {**message, "data": {"role": "assistant", "modelID": "m"}})
        for number in range(300):
            part(connection, number, f"part {number} " + "x" * 10_000)
        connection.execute("COMMIT")
    return path


def test_a_changed_row_costs_that_row(home: Path, long_session: Path, tmp_path: Path) -> None:
    """Of a long session the rows that changed are read and kept, of other sessions none; a rebuild gives the same."""
    archive = tmp_path / "archive"
    assert synced(home, archive).bytes_read > 3_000_000
    with closing(sqlite3.connect(long_session, isolation_level=None)) as connection:
        part(connection, 300, "another part")
        part(connection, 7, f"part 7 {'x' * 10_000} and more")
    summary = synced(home, archive)
    assert (summary.new, summary.grown) == (0, 1)
    assert summary.bytes_read < 100_000  # the beginning of the file, the row, and a session without notes
    texts = [text for (text,) in rows(archive, "SELECT type FROM events WHERE type = 'message.assistant'")]
    assert len(texts) >= 302
    assert synced(home, archive).bytes_read == 0
    before = whole_index(archive)
    synced(home, archive, rebuild=True)
    assert whole_index(archive) == before


def test_changes_that_nobody_noted_are_found_by_comparing(home: Path, long_session: Path, tmp_path: Path) -> None:
    """Where the notes have a gap, every row is compared with what is kept; only the different one is kept."""
    archive = tmp_path / "archive"
    synced(home, archive)
    with closing(sqlite3.connect(long_session, isolation_level=None)) as connection:
        part(connection, 8, "new words", is_noted=False)
        part(connection, 9, "and others")
        part(connection, 10, "and more")
        connection.execute(
            "DELETE FROM event WHERE seq = (SELECT max(seq) - 1 FROM event) AND aggregate_id = ?", (SESSION,)
        )
    summary = synced(home, archive)
    assert summary.grown == 1
    assert summary.bytes_read > 2_000_000
    assert summary.bytes_written < 5_000
    hits = rows(archive, "SELECT rowid FROM words WHERE words MATCH 'others OR (new AND words) OR more'")
    assert len(hits) >= 3


def test_a_database_that_cannot_be_read_is_read_the_next_time(home: Path, tmp_path: Path) -> None:
    """It is a failure that people see, and no reason to leave the database alone for ever."""
    archive = tmp_path / "archive"
    path = database_path(home)
    whole = path.read_bytes()
    status = path.stat()
    path.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    assert synced(home, archive).failed == 1
    path.write_bytes(whole)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert synced(home, archive).new == 1


def test_a_session_is_given_back_as_its_rows(home: Path, long_session: Path, tmp_path: Path) -> None:
    """Of a database people get the lines that its rows are, to the last byte."""
    archive = tmp_path / "archive"
    synced(home, archive)
    stored = layout_of("opencode").stored(long_session)
    assert stored is not None
    with stored as sessions:
        expected = {each.identity.native_id: b"".join(each.lines()) for each in sessions}
    with IndexReader(archive) as opened:
        for native_id, content in expected.items():
            query = "SELECT run_id FROM files WHERE path LIKE ?"
            ((run_id,),) = rows(archive, query, f"%#{native_id}")
            (path,) = restore_files(opened, run_id, tmp_path / native_id)
            assert path.name == f"opencode.db#{native_id}"
            assert path.read_bytes() == content
