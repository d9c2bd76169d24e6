"""SQL over a bundle."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from counters import PRICES, make_archive, write_journal
from golden_cases import FOLDER as GOLDEN
from stenograph import Run, read_events, start_run
from stenograph.bundle import BundleOptions, DebugBundle, create_bundle
from stenograph.errors import InvalidQuery, SourceError
from stenograph.model import decode
from stenograph.query import bundle_database as room
from stenograph.query.archive_database import views_of
from stenograph.query.bundle_database import bundle_database
from stenograph.query.bundle_parts import parts_of
from stenograph.query.bundle_tables import EXAMPLES, TABLES
from stenograph.query.sql import run_sql
from stenograph.query.views import VIEWS
from stenograph.sources.conversion import convert

DOCUMENTED = """
SELECT context->>'entry_type', context->>'source', context->>'detail'
FROM logs
WHERE event = 'transcript.entry'
ORDER BY context->>'sequence_number'
"""
BARE = BundleOptions(environment=False, page=False)


@pytest.fixture
def recorded(root: Path) -> Run:
    """A run with a tool that works, one that fails, one that is never answered, tokens, an error and a called run."""
    with start_run("review", root=root) as run:
        run.user("Review it.")
        run.assistant("Fine.", message_id="m-1")
        run.usage(10, 5, message_id="m-1", model="small")
        run.usage(12, 6, message_id="m-1", model="small")
        with run.tool("read", {"path": "a.py"}, call_id="c-1") as call:
            call.output = {"text": "x"}
        with run.tool("push", {"n": 2}, call_id="c-2") as call:
            call.fail("refused")
        run.tool("wait", {}, call_id="c-3").__enter__()
        run.error("it broke", code="E1")
        with run.call_workflow("release") as child:
            child.user("Go.")
    return run


@pytest.fixture
def bundle(recorded: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """It as a bundle, with a log that has an error; made outside any repository, whose changes would be in it."""
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "app.log"
    log.write_text(
        '{"level":"ERROR","logger":"app","message":"no disk","timestamp":"t","context":{"n":1}}\n{"event":[1]}\n'
    )
    return create_bundle(tmp_path / "a.zip", read_events(recorded.path), logs=log)


def asked(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with bundle_database(path) as database:
        return list(run_sql(database, sql))


def test_the_query_of_the_document_works(bundle: Path) -> None:
    """Verbatim, on the log records; in the order of their numbers, which are numbers."""
    rows = asked(bundle, DOCUMENTED)
    transcript = DebugBundle.load(bundle).transcript
    ordered = sorted((record["context"] for record in transcript), key=lambda context: context["sequence_number"])
    assert [row[:2] for row in rows] == [(context["entry_type"], context["source"]) for context in ordered]
    assert json.loads(rows[0][2]) == {"subtype": "run.started"}


def test_every_table_has_its_columns(bundle: Path) -> None:
    """What `--schema` says is what there is, and every example runs."""
    with bundle_database(bundle) as database:
        for table in TABLES:
            assert set(run_sql(database, f"SELECT * FROM {table.name}").columns) == set(table.columns), table.name
        for _, sql in EXAMPLES:
            assert list(run_sql(database, sql))


def test_calls_are_pairs(bundle: Path) -> None:
    """Input, output, error and time of each; what was never answered has no result."""
    rows = asked(bundle, "SELECT tool_name, input, output, error, result_seq IS NULL FROM tool_calls ORDER BY call_seq")
    assert [(name, json.loads(given), error, is_open) for name, given, _, error, is_open in rows] == [
        ("read", {"path": "a.py"}, None, 0),
        ("push", {"n": 2}, "refused", 0),
        ("wait", {}, None, 1),
    ]
    assert json.loads(rows[0][2]) == {"text": "x"}


def test_errors_are_all_that_failed(bundle: Path) -> None:
    """Of the log, of tools and of the agent."""
    assert asked(bundle, "SELECT kind, message FROM errors ORDER BY kind") == [
        ("error", "it broke"),
        ("log", "no disk"),
        ("tool", "refused"),
    ]


def test_tokens_count_once(bundle: Path) -> None:
    """The last report of a call is the one that counts."""
    assert asked(bundle, "SELECT input_tokens, is_counted FROM usage ORDER BY seq") == [(10, 0), (12, 1)]


def test_called_runs_manifest_and_environment_are_there(bundle: Path) -> None:
    """Events of all runs, the fields of the manifest, and what it ran on."""
    manifest = DebugBundle.load(bundle).manifest
    assert asked(bundle, "SELECT count(DISTINCT run_id) FROM events") == [(2,)]
    assert asked(bundle, "SELECT value FROM manifest WHERE key = 'bundle_id'") == [(manifest.bundle_id,)]
    assert json.loads(asked(bundle, "SELECT value FROM manifest WHERE key = 'counts'")[0][0])["log_records"] > 2
    sections = {row[0] for row in asked(bundle, "SELECT DISTINCT section FROM environment")}
    assert {"system", "python", "packages", "variables"} <= sections


def test_odd_records_are_rows_all_the_same(bundle: Path) -> None:
    """A record whose fields are no text has them as JSON."""
    assert asked(bundle, "SELECT event FROM logs WHERE id = 2") == [("[1]",)]


@pytest.fixture
def _kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any bundle is worth keeping a database of."""
    monkeypatch.setattr(room, "WORTH_KEEPING", 0)


def beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.sqlite")


@pytest.mark.usefixtures("_kept")
def test_the_database_is_kept_and_private(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second question does not open the bundle again; nothing else is left in the folder."""
    before = {path.name for path in bundle.parent.iterdir()}
    first = asked(bundle, "SELECT * FROM events")
    assert stat.S_IMODE(beside(bundle).stat().st_mode) == 0o600
    assert {path.name for path in bundle.parent.iterdir()} - before == {beside(bundle).name}
    monkeypatch.setattr(room, "_make", None)
    assert asked(bundle, "SELECT * FROM events") == first


@pytest.mark.usefixtures("_kept")
def test_what_is_kept_is_never_stale(bundle: Path, root: Path) -> None:
    """Another bundle under the same name, with the same size and time, is another bundle."""
    asked(bundle, "SELECT 1")
    status = bundle.stat()
    with start_run("other", root=root) as run:
        run.user("Something else.")
    create_bundle(bundle, read_events(run.path), options=BARE)
    os.utime(bundle, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert asked(bundle, "SELECT value FROM manifest WHERE key = 'run_id'") == [(run.run_id,)]


@pytest.mark.usefixtures("_kept")
@pytest.mark.parametrize("spoil", ["garbage", "link", "open", "older"])
def test_what_is_not_ours_is_not_trusted(bundle: Path, tmp_path: Path, spoil: str) -> None:
    """A database that is broken, a link, writable by others, or of another version is made anew."""
    asked(bundle, "SELECT 1")
    kept = beside(bundle)
    if spoil == "garbage":
        kept.write_bytes(b"garbage" * 1000)
    elif spoil == "link":
        kept.rename(tmp_path / "elsewhere")
        kept.symlink_to(tmp_path / "elsewhere")
    else:
        connection = sqlite3.connect(kept)
        connection.execute("PRAGMA user_version = 0") if spoil == "older" else kept.chmod(0o666)
        connection.execute("DELETE FROM events")
        connection.commit()
        connection.close()
    assert asked(bundle, "SELECT count(*) > 0 FROM events") == [(1,)]
    assert not kept.is_symlink()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.usefixtures("_kept")
def test_where_nothing_can_be_written_it_works_too(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle in a folder that is not ours is asked all the same, and leaves nothing."""
    monkeypatch.setattr(room.os, "access", lambda path, mode: False)
    before = sorted(bundle.parent.iterdir())
    assert asked(bundle, "SELECT count(*) FROM manifest")[0][0] > 10
    assert sorted(bundle.parent.iterdir()) == before


@pytest.mark.usefixtures("_kept")
def test_only_what_a_query_reads_is_loaded(bundle: Path) -> None:
    """Each query sees whole tables, in any order of asking; a mistake is told before anything is made."""
    queries = ["SELECT key FROM manifest", "SELECT call_id FROM tool_calls", "SELECT kind FROM errors", DOCUMENTED]
    expected = [asked(bundle, sql) for sql in queries]
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        beside(bundle).unlink()
        for number in order:
            with bundle_database(bundle, queries[number]) as database:
                assert list(run_sql(database, queries[number])) == expected[number]
    beside(bundle).unlink()
    with pytest.raises(InvalidQuery, match="no such table"), bundle_database(bundle, "SELECT * FROM nope"):
        pass
    assert not beside(bundle).exists()


@pytest.mark.parametrize(
    ("sql", "parts"),
    [
        ("SELECT 1", set()),
        ("SELECT count(*) FROM manifest", set()),
        ("SELECT tool_name FROM tool_calls", {"events"}),
        ("SELECT count(*) FROM usage", {"events"}),
        ("SELECT count(*) FROM transcript", {"logs"}),
        ("SELECT role FROM entries", {"logs"}),
        ("SELECT * FROM errors", {"logs", "events"}),
        ("EXPLAIN QUERY PLAN SELECT * FROM logs", {"logs", "events"}),
        ("SELECT 1 FROM logs WHERE id IN (SELECT seq FROM events)", {"logs", "events"}),
    ],
)
def test_a_query_says_what_it_reads(sql: str, parts: set[str]) -> None:
    """By the tables behind the names."""
    assert parts_of(sql) == parts


def test_a_small_bundle_leaves_no_database(bundle: Path) -> None:
    """It is made in no time, so nothing is kept."""
    asked(bundle, "SELECT 1")
    assert not beside(bundle).exists()


def test_what_is_no_bundle_cannot_be_asked(tmp_path: Path) -> None:
    """One clear error, as with every other command."""
    (tmp_path / "a.zip").write_text("no zip")
    with pytest.raises(SourceError), bundle_database(tmp_path / "a.zip"):
        pass
    with pytest.raises(SourceError), bundle_database(tmp_path / "missing.zip"):
        pass


def test_the_tables_are_documented() -> None:
    """Every table and column stands in the reference, with the words of `--schema`."""
    page = (Path(__file__).parents[3] / "docs" / "reference" / "bundle.md").read_text()
    for table in TABLES:
        section = page.partition(f"\n### {table.name}\n")[2].partition("\n### ")[0]
        assert re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE) == list(table.columns.items())


OF_THE_ARCHIVE = ("host", "user", "archive_id")


@pytest.mark.parametrize(
    "case", ["claude_code/2.1.325-nested", "codex_rollout/patch", "opencode/tools", "exchange/demo"]
)
def test_a_bundle_answers_as_the_archive_does(case: str, tmp_path: Path) -> None:
    """The same rows, by the same indexer: runs, messages, commands, changes of files and tool calls."""
    events = [decode(line) for line in (GOLDEN / case / "expected.jsonl").read_bytes().splitlines()]
    own = [replace(each, child_run_id=None) for each in events if each.run_id == events[0].run_id]
    bundle = create_bundle(tmp_path / "a.zip", own, options=BARE)
    write_journal(own, tmp_path / "journals")
    with make_archive(tmp_path / "archive", tmp_path / "journals") as archive, views_of(archive, PRICES) as views:
        for view in VIEWS:
            if view.name not in {"runs", "messages", "commands", "file_changes", "tool_calls"}:
                continue
            columns = [name for name in view.columns if name not in ("status", "status_reason", *OF_THE_ARCHIVE)]
            sql = f"SELECT {', '.join(columns)} FROM {view.name} ORDER BY 1, 2, 3, 4, 5, 6"
            with bundle_database(bundle, sql) as tables:
                assert list(run_sql(tables, sql)) == list(run_sql(views, sql)), view.name


def test_old_and_new_tables_join(bundle: Path) -> None:
    """One query may read the log, the events and what the archive's views make of them."""
    sql = """
        SELECT count(DISTINCT runs.run_id), count(DISTINCT logs.id) > 0, count(DISTINCT events.id) > 0
        FROM runs JOIN events ON events.run_id = runs.run_id JOIN logs ON 1
    """
    with bundle_database(bundle, sql) as tables:
        ((runs, has_logs, has_events),) = run_sql(tables, sql)
    assert (runs, has_logs, has_events) == (2, 1, 1)
    assert parts_of(sql) == {"logs", "events", "index"}
    assert parts_of("SELECT * FROM messages") == {"index"}


def test_a_call_has_no_duration_where_the_source_has_no_times(tmp_path: Path) -> None:
    """`codex exec` prints no times: the time of its file is not when a call began or ended."""
    printed = GOLDEN / "codex_exec/tools/input.jsonl"
    bundle = create_bundle(tmp_path / "a.zip", convert(printed), options=BARE)
    assert set(asked(bundle, "SELECT duration_ms FROM tool_calls")) == {(None,)}
