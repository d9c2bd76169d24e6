"""Which files a sync and a watch find, and what they say of the others."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from archive_cases import claude_line, rows, session_path, synced, written
from opencode_database import create_tables, insert
from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root, other_name_reason, roots_of
from stenograph.archive.keep.watching import watch
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store

GOLDEN = Path(__file__).parents[2] / "golden"
PATIENCE = 120


def test_a_watch_sees_the_first_session_of_a_fresh_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No agent has a folder yet; the first session that is written is there long before everything is looked at."""
    monkeypatch.setattr("stenograph.archive.keep.watching.SAFETY_NET", 3600)
    home, archive = tmp_path / "home", tmp_path / "archive"
    home.mkdir()
    stop, looked = threading.Event(), threading.Event()
    found: list[Summary] = []

    def tell(summary: Summary) -> None:
        found.append(summary)
        looked.set()

    roots = lambda: roots_of({}, home, archive, existing_only=False)  # noqa: E731
    watching = threading.Thread(target=watch, args=(home_of(archive), roots, stop, tell))
    watching.start()
    try:
        assert looked.wait(PATIENCE)
        began = time.monotonic()
        written(session_path(home), claude_line(1))
        while not any(summary.new for summary in found) and time.monotonic() - began < PATIENCE:
            time.sleep(0.01)
    finally:
        stop.set()
        watching.join()
    assert [summary.new for summary in found if summary.new] == [1]
    assert rows(archive, "SELECT count(*) FROM runs") == [(1,)]


def test_sessions_of_a_database_count_as_unchanged(tmp_path: Path) -> None:
    """Whether nothing in the database changed, or only another session."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    database = home / ".local" / "share" / "opencode" / "opencode.db"
    database.parent.mkdir(parents=True)
    with closing(sqlite3.connect(database)) as connection:
        create_tables(connection)
        for case in ("tools", "text"):
            for line in (GOLDEN / "opencode" / case / "input.jsonl").read_bytes().splitlines():
                insert(connection, json.loads(line))
        connection.commit()
    assert synced(home, archive).new == 2
    again = synced(home, archive)
    assert (again.new, again.unchanged, again.bytes_read) == (0, 2, 0)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE other (x)")
        connection.commit()
    again = synced(home, archive)
    assert (again.new, again.grown, again.unchanged) == (0, 0, 2)


def test_a_named_folder_is_read_by_what_its_files_hold(tmp_path: Path) -> None:
    """A `.log` file of a known format is kept; what is left out is counted with the reason, at every sync."""
    folder, archive = tmp_path / "printed", tmp_path / "archive"
    folder.mkdir()
    (folder / "run.log").write_bytes((GOLDEN / "codex_exec" / "tools" / "input.jsonl").read_bytes())
    (folder / "server.log").write_text("started\nlistening\n", "utf-8")
    (folder / "half.jsonl").write_text('{"type":', "utf-8")
    (folder / "notes.txt").write_text("hello\n", "utf-8")
    for _ in range(2):
        with Store(home_of(archive)) as store:
            summary = sync(store, [Root(folder.resolve(), None)])
        assert sum(summary.left_out.values()) == 3
        assert summary.left_out[other_name_reason()] == 1
    assert rows(archive, "SELECT format FROM runs") == [("codex_exec",)]


def test_an_agent_s_folder_is_not_asked_about_its_logs(tmp_path: Path) -> None:
    """In the folder of an agent a log is no transcript, and nothing is said of it."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    session = written(session_path(home), claude_line(1))
    session.with_suffix(".log").write_bytes(session.read_bytes())
    summary = synced(home, archive)
    assert (summary.new, summary.left_out) == (1, {})
