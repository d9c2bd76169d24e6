"""What a sync keeps and indexes, and what it costs."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from archive_cases import (
    SESSION,
    claude_line,
    codex_line,
    rows,
    session_path,
    subagent_path,
    synced,
    thread_path,
    whole_index,
    written,
)
from stenograph.archive import IndexReader
from stenograph.archive.index.tables import SCHEMA
from stenograph.archive.store.home import home_of
from stenograph.archive.store.restore import restore_files
from stenograph.archive.writer import Store
from stenograph.errors import ArchiveLocked, RunNotFound, SourceError, StoreError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with a session, its subagent, and a thread."""
    home = tmp_path / "home"
    written(session_path(home), *(claude_line(n, kind) for n, kind in enumerate(("user", "call", "result"), 1)))
    written(session_path(home), claude_line(4, "assistant"))
    written(subagent_path(home), claude_line(3, "assistant", isSidechain=True, agentId="a1"))
    written(thread_path(home), codex_line(0), codex_line(1))
    return home


def test_first_sync_keeps_and_indexes_everything(home: Path, tmp_path: Path) -> None:
    """Runs, events, calls, tokens and words are there after one sync."""
    archive = tmp_path / "archive"
    summary = synced(home, archive)
    assert (summary.new, summary.failed) == (3, 0)
    query = "SELECT agent, cwd, turns, tools, status, first_prompt, output_tokens FROM runs ORDER BY agent"
    assert rows(archive, query) == [
        ("claude", "/home/user/project", 1, 1, "finished", "line 1 says helloWorld", 9),
        ("codex", "/home/user/other", 1, 0, "unknown", "codex line 1", 0),
    ]
    assert rows(archive, "SELECT name, error, duration_ms FROM calls") == [("Bash", None, 1000.0)]
    assert rows(archive, "SELECT source FROM sources ORDER BY source") == [("main",), ("main",), ("subagent:a1",)]
    assert len(rows(archive, "SELECT rowid FROM words WHERE words MATCH 'hello AND world'")) == 5


def test_events_are_read_back_by_number(home: Path, tmp_path: Path) -> None:
    """An archive gives the events of a run in order, any part of them, and one by its id."""
    synced(home, tmp_path / "archive")
    with IndexReader(tmp_path / "archive") as archive:
        run, run_id = archive.find_run(SESSION[:6])
        events = list(archive.events(run))
        assert run_id == SESSION
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert list(archive.events(run, 2, 3)) == events[1:3]
        ids = [row[0] for row in archive.index.execute("SELECT id FROM events WHERE run = ? ORDER BY seq", (run,))]
        assert [archive.event(each) for each in ids] == events
        assert ids == sorted(ids)


def test_idle_sync_reads_nothing(home: Path, tmp_path: Path) -> None:
    """A sync over many unchanged files, strangers among them, reads no byte of them."""
    for number in range(300):
        written(session_path(home, f"0f1e2d3c-4b5a-4978-8695-{number:012}"), claude_line(number))
    written(session_path(home).with_name("notes.jsonl"), b"no transcript\n")
    synced(home, tmp_path / "archive")
    summary = synced(home, tmp_path / "archive")
    assert (summary.unchanged, summary.bytes_read, summary.bytes_written) == (303, 0, 0)


def test_growth_costs_what_is_new(home: Path, tmp_path: Path) -> None:
    """A kilobyte more of a large session reads at most 64 KiB and indexes only its own events."""
    path = written(session_path(home), *(claude_line(n, "assistant", "x y " * 2000) for n in range(10, 1000)))
    assert path.stat().st_size > 8_000_000
    synced(home, tmp_path / "archive")
    written(path, claude_line(2000, "user", "z" * 500))
    summary = synced(home, tmp_path / "archive")
    assert (summary.grown, summary.events) == (1, 1)
    assert summary.bytes_read <= 65536


def test_a_new_subagent_costs_itself(home: Path, tmp_path: Path) -> None:
    """Of those that were there before not even the sidecar is read again, nor is their session."""
    written(session_path(home), *(claude_line(n, "assistant", "x " * 5000) for n in range(10, 30)))
    for number in range(30):
        subagent = written(
            subagent_path(home, f"b{number}"), claude_line(number, isSidechain=True, agentId=f"b{number}")
        )
        subagent.with_suffix(".meta.json").write_text(json.dumps({"toolUseId": "toolu_00000002", "x": "y" * 5000}))
        if number == 28:
            synced(home, tmp_path / "archive")
    summary = synced(home, tmp_path / "archive")
    assert (summary.new, summary.unchanged) == (1, 32)
    assert summary.bytes_read < 20_000


def test_rewritten_file_is_a_new_version(home: Path, tmp_path: Path) -> None:
    """A line edited in the middle adds its own events; the old version stays reachable."""
    archive = tmp_path / "archive"
    synced(home, archive)
    path = session_path(home)
    before = path.read_bytes()
    lines = before.splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], claude_line(77, "user", "edited"), *lines[2:]]))
    summary = synced(home, archive)
    assert (summary.rewritten, summary.events) == (1, 1)
    with IndexReader(archive) as opened:
        restore_files(opened, SESSION, tmp_path / "new")
        restore_files(opened, SESSION, tmp_path / "old", 1)
    assert next((tmp_path / "new").rglob(path.name)).read_bytes() == path.read_bytes()
    assert next((tmp_path / "old").rglob(path.name)).read_bytes() == before


def test_deleted_and_moved_files_cost_nothing(home: Path, tmp_path: Path) -> None:
    """What an agent deletes is still there; what it moves is the same file under another name."""
    archive = tmp_path / "archive"
    synced(home, archive)
    before = thread_path(home).read_bytes()
    place = home / ".codex" / "archived_sessions" / thread_path(home).name
    place.parent.mkdir()
    thread_path(home).rename(place)
    session_path(home).unlink()
    summary = synced(home, archive)
    assert (summary.moved, summary.gone, summary.events, summary.new) == (1, 1, 0, 0)
    with IndexReader(archive) as opened:
        run_id = rows(archive, "SELECT run_id FROM runs WHERE agent = 'codex'")[0][0]
        (path,) = restore_files(opened, run_id, tmp_path / "out")
        assert path.read_bytes() == before
        assert restore_files(opened, SESSION, tmp_path / "out2")
        with pytest.raises(StoreError, match="already"):
            restore_files(opened, SESSION, tmp_path / "out2")
        with pytest.raises(RunNotFound):
            restore_files(opened, SESSION, tmp_path / "out3", 9)


def test_copies_are_not_indexed_twice(home: Path, tmp_path: Path) -> None:
    """A copy of a session under another name is kept, and adds no event."""
    synced(home, tmp_path / "archive")
    written(session_path(home).with_name("backup.jsonl"), session_path(home).read_bytes())
    summary = synced(home, tmp_path / "archive")
    assert (summary.new, summary.events) == (1, 0)


def test_fork_counts_no_tokens_twice(home: Path, tmp_path: Path) -> None:
    """A fork repeats the calls of its origin; only its own are added."""
    archive = tmp_path / "archive"
    synced(home, archive)
    query = "SELECT sum(output_tokens) FROM counted"
    (before,) = rows(archive, query)[0]
    fork = session_path(home, "11111111-4b5a-4978-8695-a4b3c2d1e0f0")
    written(fork, session_path(home).read_bytes(), claude_line(40, "assistant"))
    synced(home, archive)
    assert rows(archive, query) == [(before + 40,)]


def test_last_line_without_newline_is_indexed_once(home: Path, tmp_path: Path) -> None:
    """A whole record counts before its newline comes, and not again after."""
    archive = tmp_path / "archive"
    synced(home, archive)
    written(session_path(home), claude_line(50)[:-1])
    assert synced(home, archive).events == 1
    written(session_path(home), b"\n", claude_line(51))
    assert synced(home, archive).events == 1


def test_broken_index_is_made_anew(home: Path, tmp_path: Path) -> None:
    """An index that SQLite cannot read, or that is gone, costs a rebuild and nothing else."""
    archive = tmp_path / "archive"
    synced(home, archive)
    before = whole_index(archive)
    (archive / "index.db").write_bytes(b"garbage " * 1000)
    assert synced(home, archive).rebuilt
    assert whole_index(archive) == before
    (archive / "index.db").unlink()
    assert synced(home, archive).rebuilt
    assert whole_index(archive) == before


def test_an_older_index_is_made_again(home: Path, tmp_path: Path) -> None:
    """The next sync makes the index of an earlier version anew from the packs, whatever its tables were."""
    archive = tmp_path / "archive"
    synced(home, archive)
    before = whole_index(archive)
    index = sqlite3.connect(archive / "index.db")
    index.executescript(f"DROP TABLE model_calls; PRAGMA user_version = {SCHEMA - 1}")
    index.close()
    assert synced(home, archive).rebuilt
    assert whole_index(archive) == before


def test_newer_archive_is_refused(home: Path, tmp_path: Path) -> None:
    """An archive of a later version is left alone, with a sentence that says so."""
    archive = tmp_path / "archive"
    synced(home, archive)
    index = sqlite3.connect(archive / "index.db")
    index.execute("PRAGMA user_version = 999")
    index.close()
    with pytest.raises(StoreError, match="newer Stenograph"):
        synced(home, archive)


@pytest.mark.parametrize("is_there", [True, False])
def test_damaged_pack_is_counted(home: Path, tmp_path: Path, is_there: bool) -> None:
    """A frame that is not what it was is counted; its file is kept anew if it is there, and told of if not."""
    archive = tmp_path / "archive"
    synced(home, archive)
    events = "SELECT count(*) FROM events"
    (before,) = rows(archive, events)[0]
    pack = archive / "kept" / "000001.pack"
    pack.write_bytes(pack.read_bytes()[:-44] + b"x" + pack.read_bytes()[-43:])
    (number,) = rows(archive, "SELECT file FROM frames ORDER BY id DESC LIMIT 1")[0]
    (path, run_id), *_ = rows(archive, "SELECT path, run_id FROM files WHERE id = ?", number)
    content = Path(path).read_bytes()
    if not is_there:
        Path(path).unlink()
    assert synced(home, archive, rebuild=True).damaged > 0
    assert (rows(archive, events)[0][0] == before) is is_there
    with IndexReader(archive) as opened:
        if is_there:
            assert content in [each.read_bytes() for each in restore_files(opened, run_id, tmp_path / "out")]
        else:
            with pytest.raises(SourceError, match="damaged"):
                restore_files(opened, run_id, tmp_path / "out")
    assert synced(home, archive).rewritten == 0


def test_second_writer_is_refused(tmp_path: Path) -> None:
    """Two processes never write one archive; the second is told which process holds it."""
    with Store(home_of(tmp_path)), pytest.raises(ArchiveLocked, match=f"process {os.getpid()}"):
        Store(home_of(tmp_path))


def test_archive_is_private(home: Path, tmp_path: Path) -> None:
    """Folders are 0700 and files 0600."""
    synced(home, tmp_path / "archive")
    for path in (tmp_path / "archive", *(tmp_path / "archive").rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


def test_links_are_not_followed(home: Path, tmp_path: Path) -> None:
    """A link below a root leads nowhere, whether to a file or to a folder."""
    outside = written(tmp_path / "outside" / "secret.jsonl", claude_line(1))
    (session_path(home).with_name("link.jsonl")).symlink_to(outside)
    (session_path(home).parent / "folder").symlink_to(outside.parent)
    assert synced(home, tmp_path / "archive").new == 3


def test_side_files_are_kept_for_a_rebuild(home: Path, tmp_path: Path) -> None:
    """A subagent's sidecar is given back with its transcript, and tells who spawned it also after it is gone."""
    archive = tmp_path / "archive"
    sidecar = subagent_path(home).with_suffix(".meta.json")
    sidecar.write_text(json.dumps({"toolUseId": "toolu_00000002", "agentType": "x"}))
    synced(home, archive)
    before = whole_index(archive)
    sidecar.unlink()
    synced(home, archive, rebuild=True)
    assert whole_index(archive) == before
    query = "SELECT parent_source, parent_call_id FROM sources WHERE source = 'subagent:a1'"
    assert rows(archive, query) == [("main", "toolu_00000002")]
    with IndexReader(archive) as opened:
        names = [path.name for path in restore_files(opened, SESSION, tmp_path / "out")]
    assert sidecar.name in names
