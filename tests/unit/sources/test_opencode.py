"""OpenCode's database: built from golden rows, read beside a writer, and whatever else may be found in its place."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import opencode_database
from golden_cases import CASES
from opencode_database import create_tables
from stenograph.errors import AmbiguousRun, RunNotFound, SourceError
from stenograph.formats.base import Context, run_id_of
from stenograph.formats.opencode.event_log import EventLog
from stenograph.formats.registry import formats
from stenograph.model import Event
from stenograph.sources import convert, detect_file
from stenograph.sources.database import reading
from stenograph.sources.layouts import layout_of
from stenograph.sources.session_tail import SessionTail
from stenograph.sources.verify import verify_agent_file
from strategies import examples

GOLDEN = Path(__file__).parents[2] / "golden" / "opencode"


def created(path: Path) -> sqlite3.Connection:
    """An empty database in the way of OpenCode: with a write-ahead log that is never written back."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("PRAGMA synchronous = OFF")
    create_tables(connection)
    return connection


def insert(connection: sqlite3.Connection, row: dict[str, Any]) -> None:
    """One row; a change is counted, too."""
    opencode_database.insert(connection, row)
    if row["table"] == "event":
        connection.execute("DELETE FROM event_sequence WHERE aggregate_id = ?", (row["aggregate_id"],))
        connection.execute("INSERT INTO event_sequence VALUES (?, ?)", (row["aggregate_id"], row["seq"]))


def rows_of(*cases: str) -> Iterator[dict[str, Any]]:
    for case in cases:
        yield from map(json.loads, (GOLDEN / case / "input.jsonl").read_bytes().splitlines())


def database(path: Path, *cases: str) -> Path:
    with closing(created(path)) as connection:
        for row in rows_of(*cases):
            insert(connection, row)
    return path


def told(events: list[Event]) -> list[tuple[object, ...]]:
    """What was said and done, in no order."""
    events = [event for event in events if event.type != "system.event"]
    return sorted((event.type, event.run_id, event.source, event.timestamp, repr(event.payload)) for event in events)


def steno(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "stenograph", *map(str, arguments)], capture_output=True, text=True)


CONVERTED = [case.name for case in CASES if case.parent.name == "opencode" and case.name != "history"]


@pytest.mark.parametrize("case", CONVERTED)
def test_a_database_gives_what_its_rows_give(case: str, tmp_path: Path) -> None:
    """The database built from the rows of a golden case gives their events, every row named and carried."""
    conversion = convert(database(tmp_path / "opencode.db", case))
    events = list(conversion)
    assert told(events) == told(list(convert(GOLDEN / case / "input.jsonl")))
    for file in conversion.files:
        own = [event for event in events if event.source == file.source]
        assert [event.origin.line for event in own if event.raw and event.origin] == list(
            range(1, file.report.lines + 1)
        )
        assert (file.format, file.report.failed, file.report.malformed) == ("opencode", 0, 0)


def test_a_writer_is_not_disturbed_and_its_log_is_seen(tmp_path: Path) -> None:
    """What a running program has committed is read from the write-ahead log; what it has not is not waited for."""
    path = tmp_path / "opencode.db"
    with closing(created(path)) as writer:
        for row in rows_of("text"):
            insert(writer, row)
        before = {each.name: each.read_bytes() for each in tmp_path.iterdir() if not each.name.endswith("-shm")}
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM part")
        assert told(list(convert(path))) == told(list(convert(GOLDEN / "text" / "input.jsonl")))
        writer.execute("ROLLBACK")
        after = {each.name: each.read_bytes() for each in tmp_path.iterdir() if not each.name.endswith("-shm")}
    assert len(before["opencode.db"]) == 4096
    assert after == before


def test_a_subagent_speaks_between_its_call_and_its_result(tmp_path: Path) -> None:
    """Its session is merged into the run by time, as a source that names the call."""
    events = list(convert(database(tmp_path / "opencode.db", "subagent")))
    (source,) = {event.source for event in events} - {"main"}
    (call,) = [event for event in events if event.type == "tool.call" and event.source == "main"]
    (result,) = [event for event in events if event.type == "tool.result" and event.source == "main"]
    child = [event for event in events if event.source == source]
    assert {event.run_id for event in events} == {call.run_id}
    assert {(event.origin.parent_source, event.origin.parent_call_id) for event in child if event.origin} == {
        ("main", call.payload.call_id)
    }
    spoken = [event for event in child if event.type == "message.assistant"]
    assert all(call.seq < event.seq < result.seq for event in spoken)


def test_an_orphaned_subagent_still_belongs_to_its_run(tmp_path: Path) -> None:
    """When the session that spawned it was deleted, a subagent keeps its run and its source."""
    path = database(tmp_path / "opencode.db", "subagent")
    (parent,) = [row["id"] for row in rows_of("subagent") if row["table"] == "session" and not row.get("parent_id")]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for table, column in (("session", "id"), ("message", "session_id"), ("part", "session_id")):
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (parent,))
    events = list(convert(path))
    assert {event.run_id for event in events} == {run_id_of("opencode", parent)}
    assert all(event.source.startswith("subagent:") for event in events)


def test_a_database_of_several_sessions_is_several_runs(tmp_path: Path) -> None:
    """Converted, all of them come, numbered each by itself; to show one, it must be named."""
    path = database(tmp_path / "opencode.db", "text", "cjk", "subagent")
    events = list(convert(path))
    sessions = {row["id"] for row in rows_of("text", "cjk", "subagent") if row["table"] == "session"}
    runs = list(dict.fromkeys(event.run_id for event in events))
    assert len(sessions) == 4
    assert len(runs) == 3
    for run_id in runs:
        numbers = [event.seq for event in events if event.run_id == run_id]
        assert numbers == list(range(1, len(numbers) + 1))
    shown = steno("show", path)
    assert (shown.returncode, shown.stdout) == (3, "")
    assert "holds 3 runs" in shown.stderr
    assert shown.stderr.count("\n") == 1
    one = json.loads(steno("show", f"{path}#{runs[1]}", "--json").stdout)
    assert [event["seq"] for event in one] == list(range(1, len(one) + 1))
    assert {event["run_id"] for event in one} == {runs[1]}
    assert json.loads(steno("detect", path, "--json").stdout)[0]["run_id"] is None
    with pytest.raises(RunNotFound, match="holds no session 'ses_nothing'"):
        list(convert(Path(f"{path}#ses_nothing")))
    with pytest.raises(AmbiguousRun, match="'ses' matches 3 sessions"):
        list(convert(Path(f"{path}#ses")))


def test_the_commands_take_a_database(tmp_path: Path) -> None:
    """`detect`, `show`, `tree` and `verify` of a database with one run; a folder takes it along."""
    path = database(tmp_path / "opencode.db", "subagent")
    found = json.loads(steno("detect", path, "--json").stdout)[0]
    (run_id,) = {event.run_id for event in convert(tmp_path)}
    assert (found["format"], found["run_id"]) == ("opencode", run_id)
    assert "Subagent finished." in steno("show", path).stdout
    assert "(by task, call " in steno("tree", path).stdout
    assert verify_agent_file(path).ok


@pytest.mark.parametrize("damage", ["foreign", "cut", "garbage", "locked"])
def test_a_database_that_cannot_be_read_is_one_line(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A foreign database is in no format we know, a broken or locked one is told as such; exit code 3, no traceback."""
    path = tmp_path / "some.db"
    holder = None
    if damage == "foreign":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE session (id)")
    else:
        database(path, "tools")
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
        if damage == "cut":
            path.write_bytes(path.read_bytes()[:5000])
        elif damage == "garbage":
            path.write_bytes(path.read_bytes()[:100] + b"\xff" * 9000)
        else:
            monkeypatch.setattr("stenograph.sources.database.PATIENCE", 0.01)
            holder = sqlite3.connect(path, isolation_level=None)
            holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SourceError) as caught:
        list(convert(path))
    if holder is not None:
        holder.close()
    assert caught.value.exit_code == 3
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rows_that_are_no_json_are_kept(tmp_path: Path) -> None:
    """A column that holds something else becomes an unknown event, and the rest is read."""
    path = database(tmp_path / "opencode.db", "text")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for number, data in enumerate([b'{"type": "text",', None, 17, "{}", '{"type":\n"step-start"}', b"\xff\xfe"]):
            session, message = connection.execute("SELECT session_id, id FROM message").fetchone()
            values = (f"prt_x{number}", message, session, 1, 1, data)
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", values)
    conversion = convert(path)
    events = list(conversion)
    assert [event.type for event in events].count("unknown") == 5
    assert told([event for event in events if event.type != "unknown"]) == told(
        list(convert(GOLDEN / "text" / "input.jsonl"))
    )
    assert conversion.files[0].report.failed == 0


def test_a_database_is_not_followed_as_lines(tmp_path: Path) -> None:
    """Whoever follows files is told so, and makes no transcript of its bytes."""
    path = database(tmp_path / "opencode.db", "text")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE session SET title = ?", ("\n" * 20,))
    tail = SessionTail(path, formats()["opencode"])
    assert list(tail.read()) == []
    tail.close()
    assert [str(problem) for problem in tail.problems] == [
        f"{path} holds many sessions and cannot be followed; steno convert reads it"
    ]


def test_an_empty_database_holds_no_run(tmp_path: Path) -> None:
    """No session, no event, no error."""
    path = database(tmp_path / "opencode.db")
    assert list(convert(path)) == []
    assert detect_file(path).spec is formats()["opencode"]
    assert verify_agent_file(path).events == 0


def _lines(log: EventLog, path: Path) -> list[bytes]:
    with reading(path) as connection:
        return log.read(connection)


@given(cuts=st.lists(st.integers(0, 50), max_size=5))
@examples(25)
def test_a_follower_may_start_again_anywhere(cuts: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Read in any portions, also by a new reader that was told where the last one stopped, the log is the same."""
    path = tmp_path_factory.mktemp("log") / "opencode.db"
    history = list(rows_of("history"))
    parser = formats()["opencode"].open(Context(run_id=run_id_of("opencode", history[0]["aggregate_id"])))
    log, live = EventLog(), list[Event]()
    with closing(created(path)) as writer:
        for number, row in enumerate(history):
            insert(writer, row)
            if number in cuts:
                live += [event for line in _lines(log, path) for event in parser.feed(line)]
                log = EventLog(log.seen)
        live += [event for line in _lines(log, path) for event in parser.feed(line)]
        assert _lines(log, path) == []
    assert told(live) == told(list(convert(GOLDEN / "tools" / "input.jsonl")))


def test_a_long_output_is_beside_the_database(tmp_path: Path) -> None:
    """The whole of a truncated output replaces its preview; nothing outside of its folder is opened."""
    path = database(tmp_path / "opencode.db", "long-output")
    (named,) = [
        row["data"]["state"]["metadata"]["outputPath"]
        for row in rows_of("long-output")
        if "tool" in row.get("data", {})
    ]
    conversion = convert(path)
    assert [event.type for event in conversion].count("tool.result") == 1
    assert [file.report.wanted_files for file in conversion.files] == [[f"tool-output/{Path(named).name}"]]
    (tmp_path / "tool-output").mkdir()
    (tmp_path / "tool-output" / Path(named).name).write_text("all of it", "utf-8")
    (result,) = [event for event in convert(path) if event.type == "tool.result"]
    assert result.payload.output == "all of it"
    read = layout_of("opencode").side_file(path, "")
    (tmp_path / "secret").write_text("no", "utf-8")
    assert read("../secret") is None


def test_the_layout_knows_where_databases_are(tmp_path: Path) -> None:
    """By the usual folder, by XDG's variable and by OpenCode's own; a session is found by its id."""
    layout, home = layout_of("opencode"), tmp_path / "home"
    usual = home / ".local" / "share" / "opencode"
    assert layout.roots({}, home) == [usual]
    assert layout.roots({"XDG_DATA_HOME": "/data"}, home) == [Path("/data/opencode")]
    assert layout.roots({"OPENCODE_DB": "/elsewhere/my.db"}, home) == [Path("/elsewhere")]
    assert layout.roots({"OPENCODE_DB": "my.db"}, home) == [usual]
    usual.mkdir(parents=True)
    database(usual / "opencode.db", "text")
    (usual / "other.db").write_bytes(b"not a database")
    (usual / "broken.db").write_bytes(b"SQLite format 3\0 and no more")
    with closing(sqlite3.connect(usual / "foreign.db")) as connection:
        connection.execute("CREATE TABLE session (id)")
    (session,) = [row["id"] for row in rows_of("text") if row["table"] == "session"]
    assert list(layout.sessions(usual)) == [usual / "opencode.db"]
    assert layout.find(usual, session) == usual / "opencode.db"
    assert layout.find(usual, "ses_nothing") is None
    with pytest.raises(SourceError):
        list(convert(usual / "other.db"))


def test_a_stored_session_is_read_line_by_line(tmp_path: Path) -> None:
    """Whoever keeps rows compares them one by one, so no two come as one; parts stand before their message."""
    path = database(tmp_path / "opencode.db", "tools")
    stored = layout_of("opencode").stored(path)
    assert stored is not None
    with stored as sessions:
        lines = [line for session in sessions for line in session.lines()]
    assert all(line.count(b"\n") == 1 and line.endswith(b"\n") for line in lines)
    rows = [json.loads(line) for line in lines]
    assert sorted(row["id"] for row in rows) == sorted(row["id"] for row in rows_of("tools"))
    speakers = [row["id"] if row["table"] == "message" else row["message_id"] for row in rows[1:]]
    assert speakers == sorted(speakers)
    assert [row["table"] for row in rows[:1] + rows[-1:]] == ["session", "message"]
