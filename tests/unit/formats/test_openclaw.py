"""openclaw: an agent's database, whose rows are pi's entries, some of them compressed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard

from golden_cases import FOLDER, run_of
from stenograph.fold.status import RunStatus
from stenograph.fold.usage import usage_totals
from stenograph.formats.base import run_id_of
from stenograph.formats.openclaw import SPEC
from stenograph.formats.openclaw.stored import stored_sessions
from stenograph.model import SystemPayload
from stenograph.sources import convert
from stenograph.sources.database import reading
from stenograph.sources.detection import detect_file

SESSION, OTHER = "b4933a8b-2746-477e-9c1c-7bcefe5cce6e", "c4933a8b-2746-477e-9c1c-7bcefe5cce6e"
LINES = (FOLDER / "openclaw" / "resume" / "input.jsonl").read_bytes().splitlines()[1:]
_TABLES = {
    "schema_meta": "meta_key, app_version",
    "session_windows": "session_id, session_key, previous_session_id, reason, model, spawned_by, created_at",
    "session_nodes": "session_key, current_session_id, spawned_by, fork_source_session_id",
    "transcript_events": "session_id, seq, event_json, event_zstd, event_utf8_bytes",
    "transcript_rewrite_watermarks": "session_id, generation, updated_at",
}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """An empty database, at the place of an agent's."""
    path = tmp_path / "openclaw-agent.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for name, columns in _TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
        connection.execute("INSERT INTO schema_meta VALUES ('primary', '2026.9.6')")
        yield connection


def _window(
    database: sqlite3.Connection, session_id: str, *, key: str = "agent:main:main", at: int = 1, **more: Any
) -> None:
    row = (session_id, key, more.get("previous"), more.get("reason"), "m", more.get("spawned_by"), at)
    database.execute("INSERT INTO session_windows VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def _add(database: sqlite3.Connection, lines: list[bytes], *, first: int = 0, session_id: str = SESSION) -> None:
    rows = [(session_id, first + number, line.decode(), None, None) for number, line in enumerate(lines)]
    database.executemany("INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?)", rows)


def _cool(database: sqlite3.Connection, below: int) -> None:
    """What the program does to old rows."""
    for seq, text in database.execute(
        "SELECT seq, event_json FROM transcript_events WHERE seq < ?", (below,)
    ).fetchall():
        data = text.encode()
        packed = zstandard.ZstdCompressor(write_content_size=False).compress(data)
        change = "UPDATE transcript_events SET event_json = NULL, event_zstd = ?, event_utf8_bytes = ? WHERE seq = ?"
        database.execute(change, (packed, len(data), seq))


def _path(database: sqlite3.Connection) -> Path:
    return Path(database.execute("PRAGMA database_list").fetchone()[2])


def _payloads(path: Path) -> list[Any]:
    return [(event.type, event.timestamp, event.payload) for event in convert(path)]


def test_tokens_are_those_that_the_model_counted() -> None:
    """The true counts, four calls and two of the resumed session."""
    total = usage_totals(run_of(FOLDER / "openclaw" / "resume")).total
    assert (total.input_tokens, total.cache_read_input_tokens) == (4600 + 2100, 1200 + 400)
    assert (total.output_tokens, total.reasoning_output_tokens) == (120 + 56, 34 + 15)


def test_parents_that_are_not_there_begin_no_branch() -> None:
    """Its entries name parents that are not in the transcript; their order is that of the rows."""
    events = run_of(FOLDER / "openclaw" / "resume")
    assert [
        each for each in events if isinstance(each.payload, SystemPayload) and each.payload.subtype == "branch"
    ] == []


def test_a_failed_model_is_the_status() -> None:
    """As in pi's files: an answer without words whose reason to stop is an error."""
    status = RunStatus()
    for event in run_of(FOLDER / "openclaw" / "err400"):
        status.add(event)
    assert (status.verdict().status, status.why) == ("failed", "400 fake internal error")


def test_compressed_rows_say_the_same(database: sqlite3.Connection) -> None:
    """Old rows are compressed in place: the run is the same, to the last event."""
    _window(database, SESSION)
    _add(database, LINES)
    before = _payloads(_path(database))
    _cool(database, 15)
    assert _payloads(_path(database)) == before
    assert len(before) > len(LINES)


def test_a_row_that_cannot_be_read_is_told(database: sqlite3.Connection) -> None:
    """It is unknown, and the others are read."""
    _window(database, SESSION)
    _add(database, LINES)
    database.execute(
        "UPDATE transcript_events SET event_json = NULL, event_zstd = x'00', event_utf8_bytes = 5 WHERE seq = 4"
    )
    events = list(convert(_path(database)))
    unknown = [event.payload.value for event in events if event.type == "unknown"]
    assert unknown == [{"type": "unreadable_row", "seq": 4}]
    assert usage_totals(events).total.records == 6


def test_what_is_new_costs_what_is_new(database: sqlite3.Connection) -> None:
    """Only later rows are read again, and all of them when the transcript was written anew."""
    _window(database, SESSION)
    _add(database, LINES[:10])
    with reading(_path(database)) as connection:
        (first,) = stored_sessions(connection)
    _add(database, LINES[10:], first=10)
    with reading(_path(database)) as connection:
        (grown,) = stored_sessions(connection)
        assert first.state is not None
        assert grown.lines_since(first.state) == [line + b"\n" for line in LINES[10:]]
        assert grown.lines_since(grown.state or (0, 0)) == []
    database.execute("INSERT INTO transcript_rewrite_watermarks VALUES (?, 'x', 7)", (SESSION,))
    with reading(_path(database)) as connection:
        (written_anew,) = stored_sessions(connection)
        assert written_anew.lines_since(grown.state or (0, 0)) is None


def test_a_session_knows_its_parent_its_origin_and_its_program(database: sqlite3.Connection) -> None:
    """A spawned session is a child run; one that goes on with another's history is a fork of it."""
    _window(database, SESSION)
    _window(database, OTHER, key="agent:main:subagent:x", at=2, spawned_by="agent:main:main")
    _window(database, "chosen", key="agent:main:explicit:chosen", at=3, previous=SESSION, reason="rewind")
    for session_id in (SESSION, OTHER, "chosen"):
        _add(database, LINES, session_id=session_id)
    with reading(_path(database)) as connection:
        found = [each.identity for each in stored_sessions(connection)]
        forked = json.loads(next(stored_sessions(connection)[2].lines()))
    assert [each.native_id for each in found] == [SESSION, OTHER, "agent:main:explicit:chosen/chosen"]
    assert [each.parent_native_id for each in found] == [None, SESSION, None]
    assert {(each.cwd, each.agent_version, each.model) for each in found} == {
        ("/home/user/proj", "2026.9.6", "fake-model")
    }
    assert forked["forked_from"] == run_id_of("openclaw", SESSION)
    assert SPEC.fork == ("session_window", "forked_from")


def test_a_database_is_known_by_its_tables(database: sqlite3.Connection) -> None:
    """Wherever it is, and nothing else is taken for one."""
    found = detect_file(_path(database))
    assert found.spec is SPEC
    assert SPEC.detect([{"database": "sqlite", "tables": ["transcript_events"]}], "") == 0
