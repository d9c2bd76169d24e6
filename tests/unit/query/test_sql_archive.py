"""SQL over an archive: the views say what the events say, and nothing but reading is possible."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from archive_of_goldens import CHILD, CLAUDE, PARENT, converted, each_call_once, make_archive
from stenograph.archive import IndexReader
from stenograph.archive.index.words import event_text
from stenograph.errors import InvalidQuery
from stenograph.fold.actions import action
from stenograph.fold.calls import pair_calls
from stenograph.fold.messages import messages
from stenograph.fold.usage import usage_totals
from stenograph.model import Event
from stenograph.query.archive_database import views_of
from stenograph.query.prices import load_prices
from stenograph.query.sql import Limits, run_sql
from stenograph.query.views import EXAMPLES, VIEWS
from stenograph.transcript.project import Projector

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "sql.md"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An archive and the sessions in it."""
    return make_archive(tmp_path_factory.mktemp("sql"))


@pytest.fixture(scope="module")
def events(made: tuple[Path, Path]) -> list[Event]:
    """All events, as the converter gives them."""
    return list(converted(made[1]))


@pytest.fixture
def connection(made: tuple[Path, Path]) -> Iterator[sqlite3.Connection]:
    """The archive with its views."""
    with IndexReader(made[0]) as archive, views_of(archive, load_prices()) as opened:
        yield opened


def _rows(connection: sqlite3.Connection, sql: str) -> list[tuple[object, ...]]:
    return list(run_sql(connection, sql))


def test_events_have_their_text_and_payload(connection: sqlite3.Connection, events: list[Event]) -> None:
    """Of a run with a subagent, each as the converter gives it; only the numbers are the archive's own."""
    rows = _rows(connection, f"SELECT source, type, timestamp, text, payload FROM events WHERE run_id = '{CLAUDE}'")
    expected = [event for event in events if event.run_id == CLAUDE]
    assert sorted(row[:4] for row in rows) == sorted(
        (event.source, event.type, event.timestamp, event_text(event)) for event in expected
    )
    assert {json.loads(str(row[4])).get("call_id") for row in rows} == {
        getattr(event.payload, "call_id", None) for event in expected
    }


def test_entries_are_those_of_the_events(connection: sqlite3.Connection, events: list[Event]) -> None:
    """Types, roles, contents and tool names of all runs, results included."""
    projectors: dict[str, Projector] = {}
    expected = [
        (event.run_id, entry.entry_type, entry.role, entry.content, entry.tool_name)
        for event in events
        for entry in projectors.setdefault(event.run_id, Projector()).feed(event)
    ]
    rows = _rows(connection, "SELECT run_id, entry_type, role, content, tool_name FROM entries")
    assert sorted(map(str, rows)) == sorted(map(str, expected))


def test_tool_calls_are_the_pairs_of_the_events(connection: sqlite3.Connection, events: list[Event]) -> None:
    """Each call once, with its result and why it failed."""
    expected = [
        (pair.source, pair.call_id, pair.name, pair.error, int(pair.result is None)) for pair in each_call_once(events)
    ]
    rows = _rows(connection, "SELECT source, call_id, name, error, result_seq IS NULL FROM tool_calls")
    assert sorted(map(str, rows)) == sorted(map(str, expected))
    asked = _rows(connection, f"SELECT input ->> 'command' FROM tool_calls WHERE run_id = '{CLAUDE}' AND name = 'Bash'")
    assert any("echo out-text" in str(command) for (command,) in asked)


def test_commands_and_changes_are_what_calls_do(connection: sqlite3.Connection, events: list[Event]) -> None:
    """As `fold.action` says, of all agents."""
    pairs = [(pair, action(pair)) for pair in pair_calls(events) if pair.call is not None]
    commands = [
        (pair.run_id, does.command, does.exit_code, int(pair.error is not None))
        for pair, does in pairs
        if does.kind == "shell"
    ]
    rows = _rows(connection, "SELECT run_id, command, exit_code, is_error FROM commands")
    assert sorted(map(str, rows)) == sorted(map(str, commands))
    changes = [
        (pair.run_id, change.path, change.kind, *change.lines) for pair, does in pairs for change in does.changes
    ]
    rows = _rows(connection, "SELECT run_id, path, kind, added, removed FROM file_changes")
    assert sorted(map(str, rows)) == sorted(map(str, changes))
    assert commands
    assert changes
    folders = _rows(connection, f"SELECT DISTINCT cwd, agent FROM commands WHERE run_id = '{CLAUDE}'")
    assert [agent for _, agent in folders] == ["claude"]


def test_messages_are_put_together_again(connection: sqlite3.Connection, events: list[Event]) -> None:
    """One row per message, however many records the agent spread it over."""
    expected = messages(events)
    rows = _rows(connection, "SELECT run_id, source, role, message_id, parts FROM messages")
    assert sorted(map(str, rows)) == sorted(
        str((each.run_id, each.source, each.role, each.message_id, len(each.seqs))) for each in expected
    )
    assert any(row[4] != 1 for row in rows)
    ((text,),) = _rows(
        connection, f"SELECT text FROM messages WHERE run_id = '{PARENT}' AND role = 'user' AND source = 'main'"
    )
    assert "请仔细看" in str(text)


def test_usage_counts_each_call_once(connection: sqlite3.Connection, events: list[Event]) -> None:
    """And costs what the prices say."""
    total = usage_totals(events).total
    rows = _rows(connection, "SELECT sum(input_tokens), sum(output_tokens), count(*) FROM usage")
    assert rows == [(total.input_tokens, total.output_tokens, total.records)]
    assert _rows(connection, "SELECT DISTINCT model FROM usage WHERE cost_usd IS NULL") == [("scripted",)]
    assert float(str(_rows(connection, "SELECT sum(cost_usd) FROM usage")[0][0])) > 0


def test_errors_say_what_went_wrong(connection: sqlite3.Connection) -> None:
    """Failed tools by name."""
    rows = _rows(connection, f"SELECT tool_name, message FROM errors WHERE run_id = '{CLAUDE}' ORDER BY seq")
    assert ("Bash", "Exit code 3\nout-text\nerr-text") in rows
    assert all(message for _, message in rows)


def test_runs_have_their_parents(connection: sqlite3.Connection) -> None:
    """Threads that others spawned."""
    rows = _rows(connection, f"SELECT parent_run_id, agent, duration_s > 0 FROM runs WHERE run_id = '{CHILD}'")
    assert rows == [(PARENT, "codex", 1)]


@pytest.mark.parametrize(("about", "sql"), EXAMPLES, ids=[about for about, _ in EXAMPLES])
def test_the_useful_queries_run(connection: sqlite3.Connection, about: str, sql: str) -> None:
    """And give something."""
    assert _rows(connection, sql), about


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM runs",
        "DELETE FROM main.runs",
        "UPDATE main.events SET seq = 0",
        "INSERT INTO main.facts VALUES (1, 2)",
        "DROP VIEW runs",
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE t (a)",
        "ATTACH '/etc/passwd' AS x",
        "PRAGMA query_only = 0",
        "PRAGMA writable_schema = 1",
        "SELECT load_extension('x')",
        "INSERT INTO words (words) VALUES ('delete-all')",
        "VACUUM INTO 'x'",
        "BEGIN EXCLUSIVE",
        "SELECT 1; DELETE FROM main.runs",
        "",
        "-- nothing",
    ],
)
def test_nothing_but_reading_is_possible(connection: sqlite3.Connection, sql: str) -> None:
    """Whatever is tried is refused, and the archive is as before."""
    with pytest.raises(InvalidQuery):
        _rows(connection, sql)
    assert len(_rows(connection, "SELECT * FROM runs")) > 10


@pytest.mark.parametrize(
    ("sql", "limits", "complaint"),
    [
        (
            "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c",
            Limits(seconds=0.2),
            "took longer than 0.2 s",
        ),
        ("SELECT a.run_id FROM runs AS a, runs AS b, runs AS c", Limits(rows=50), "more than 50 rows"),
        ("SELECT payload FROM events", Limits(bytes=20_000), "more than 20,000 bytes"),
        ("SELECT text FROM entries", Limits(), "no such column: text"),
    ],
)
def test_a_query_that_goes_too_far_is_stopped(
    connection: sqlite3.Connection, sql: str, limits: Limits, complaint: str
) -> None:
    """By time, rows and size, with a sentence that says which."""
    with pytest.raises(InvalidQuery, match=complaint):
        list(run_sql(connection, sql, limits))


HIDDEN = [
    "SELECT * FROM files",
    "SELECT * FROM main.files",
    "SELECT count(*) FROM files",
    "SELECT count(*) FROM main.runs",
    "SELECT run_id FROM main.runs",
    "WITH runs AS (SELECT * FROM main.files) SELECT * FROM runs",
    "WITH events AS (SELECT count(*) FROM blocks) SELECT * FROM events",
    "SELECT (SELECT lines FROM blocks LIMIT 1) FROM runs",
    "SELECT * FROM words WHERE words MATCH 'a'",
    "SELECT * FROM words_data",
    "SELECT sql FROM sqlite_master",
    "SELECT sql FROM sqlite_temp_master",
    "SELECT sql FROM sqlite_schema",
    "SELECT sql FROM temp.sqlite_schema",
    "PRAGMA table_list",
    "SELECT * FROM pragma_table_list",
    "PRAGMA database_list",
    "SELECT * FROM pragma_database_list",
]


@pytest.mark.parametrize("sql", HIDDEN)
def test_only_the_documented_views_can_be_read(connection: sqlite3.Connection, sql: str) -> None:
    """Not the tables behind them, nor the list of those, by whatever name a query hides them."""
    with pytest.raises(InvalidQuery):
        list(run_sql(connection, sql, only_views=True))


def test_views_and_functions_of_sqlite_can_be_used_as_always(connection: sqlite3.Connection) -> None:
    """Joins, CTEs, subqueries, JSON, and what tells the columns of a view."""
    for sql in (
        "SELECT count(*) FROM runs",
        "WITH r AS (SELECT * FROM runs) SELECT count(*) FROM r JOIN events USING (run_id)",
        "SELECT (SELECT count(*) FROM events WHERE events.run_id = runs.run_id) FROM runs",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT runs.run_id, each.value FROM runs, json_each('[1]') AS each",
        "SELECT name FROM pragma_table_info('runs')",
        "SELECT * FROM temp.runs",
    ):
        assert list(run_sql(connection, sql, only_views=True)), sql


def _documented() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for section in re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        heading = section.partition("\n")[0].strip()
        found[heading] = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    return found


def test_every_view_and_column_is_documented() -> None:
    """The page has each view with its columns, in their order, and the useful queries."""
    documented = _documented()
    for view in VIEWS:
        assert documented[view.name] == list(view.columns)
    for _, sql in EXAMPLES:
        assert sql in " ".join(PAGE.read_text("utf-8").split())
