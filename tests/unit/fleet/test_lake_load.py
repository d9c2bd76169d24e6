"""Loading segments into the lake: every event once, and the views of the host."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from archive_cases import claude_line
from archive_of_goldens import make_archive
from lakes import age, differences, grow, growing, push_and_load, store_of
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.fleet.lake import load as loading
from stenograph.fleet.lake.check import check
from stenograph.fleet.lake.compact import compact
from stenograph.fleet.lake.load import load
from stenograph.fleet.lake.place import make_table, open_table, table_url
from stenograph.fleet.lake.reading import Lake
from stenograph.fleet.store.keys import forgotten_folder
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.push import push


@pytest.fixture(scope="module")
def goldens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of golden sessions: four formats, forks, subagents."""
    home, sessions = make_archive(tmp_path_factory.mktemp("goldens"))
    age(sessions)
    return home


def rows_of(store: Objects) -> tuple[int, int]:
    with Lake(store.url).connected() as connection:
        query = "SELECT count(*), count(DISTINCT (archive, run_id, seq)) FROM current_events"
        found: tuple[int, int] = connection.execute(query).fetchall()[0]
    return found


def test_the_views_are_those_of_the_host(goldens: Path, tmp_path: Path) -> None:
    """All of them, row for row: forks, subagents, four agents."""
    store = store_of(tmp_path / "store")
    push_and_load([goldens], store)
    assert differences([goldens], store.url) == {}


SECRET = "ghp_" + "aB3dE6gH9" * 4


def with_secrets(goldens: Path, folder: Path) -> Path:
    """The golden archive, and a session with a secret in whatever a person or an agent may write."""
    home, project = folder / "archive", folder / "sessions" / "project"
    shutil.copytree(goldens, home)
    project.mkdir(parents=True)
    more = {"cwd": f"/home/user/{SECRET}", "gitBranch": f"fix/{SECRET}"}
    write = {
        "type": "tool_use",
        "id": "toolu_w",
        "name": "Write",
        "input": {"file_path": f"/x/{SECRET}", "content": "a"},
    }
    message = {"id": "msg_w", "role": "assistant", "model": "claude-x", "content": [write]}
    failed = {"type": "tool_result", "tool_use_id": "toolu_w", "is_error": True, "content": f"no {SECRET}"}
    lines = [
        claude_line(1, text=f"Use {SECRET}.", **more),
        claude_line(2, "assistant", f"I use {SECRET}.", **more),
        claude_line(3, "call", f"curl -H {SECRET}", **more),
        claude_line(4, "result", f"it said {SECRET}", **more),
        claude_line(5, "assistant", **more, message=message),
        claude_line(6, **more, message={"role": "user", "content": [failed]}),
    ]
    (project / "550e8400-e29b-41d4-a716-446655440000.jsonl").write_bytes(b"".join(lines))
    age(project)
    with Store(home_of(home)) as store:
        sync(store, [Root(project.resolve(), None)])
    return home


def masked(row: object) -> str:
    """A row with the secret, or what stands in its place, named alike."""
    return re.sub(r"\[masked:[^\]]*\]", "HUSH", repr(row).replace(SECRET, "HUSH"))


def test_masked_events_have_the_views_of_the_host(goldens: Path, tmp_path: Path) -> None:
    """Pushed with `--events-only`: every row of every view is the host's, with the secrets masked in all columns."""
    home, store = with_secrets(goldens, tmp_path), store_of(tmp_path / "store")
    push(home_of(home), store, events_only=True)
    load(store)
    assert differences([home], store.url, masked) == {}
    lake = Lake(store.url)
    for table in (lake.events, lake.runs):
        rows = table.to_pyarrow_table().to_pylist()
        assert "[masked:" in str(rows)
        assert not [name for row in rows for name, value in row.items() if SECRET in str(value)]
    assert check(store).ok


def test_loading_again_adds_nothing(goldens: Path, tmp_path: Path) -> None:
    """The table itself says how far it is."""
    store = store_of(tmp_path / "store")
    push_and_load([goldens], store)
    before = rows_of(store)
    again = load(store)
    assert (again.events, again.commits) == (0, 0)
    assert rows_of(store) == before
    assert check(store).ok


def test_small_batches_give_the_same(goldens: Path, tmp_path: Path) -> None:
    """However the segments are cut into commits."""
    store = store_of(tmp_path / "store")
    push(home_of(goldens), store)
    loaded = load(store, batch_bytes=1)
    assert loaded.commits == loaded.segments
    assert rows_of(store) == (loaded.events, loaded.events)


def test_a_loader_that_another_came_before_loads_nothing_twice(
    goldens: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commit is refused, and it looks again: the versions are read before each commit."""
    store = store_of(tmp_path / "store")
    push(home_of(goldens), store)
    real = loading.append

    def beaten(table: Any, rows: Any, url: str, commit: Any = None) -> None:
        if commit is not None:
            monkeypatch.setattr(loading, "append", real)
            assert load(store).events == 815  # another loader, which comes first
        real(table, rows, url, commit)

    monkeypatch.setattr(loading, "append", beaten)
    second = load(store)
    assert (second.conflicts, second.events) == (1, 0)
    assert rows_of(store) == (815, 815)


def test_an_archive_is_loaded_up_to_a_hole(tmp_path: Path) -> None:
    """What comes after a missing segment waits, and is loaded when it is there; the check names it."""
    home, store, session = growing(tmp_path)
    for number in range(3):
        grow(home, session, number)
        push(home_of(home), store)
    segments = sorted((tmp_path / "store").rglob("events/*/*"))
    assert len(segments) == 3
    kept = segments[1].read_bytes()
    segments[1].unlink()
    loaded = load(store)
    assert (loaded.segments, len(loaded.waiting)) == (1, 1)
    found = check(store)
    assert not found.ok
    assert found.archives[0].hole == found.archives[0].loaded + 1
    segments[1].write_bytes(kept)
    assert load(store).segments == 2
    assert check(store).ok
    assert differences([home], store.url) == {}


def test_a_new_generation_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    """Events that an index made anew numbered count, and those of the old one no longer; compacting removes these."""
    home, store, session = growing(tmp_path)
    grow(home, session, 0)
    push_and_load([home], store)
    with Store(home_of(home), rebuild=True):
        pass
    grow(home, session, 1)
    push_and_load([home], store)
    assert differences([home], store.url) == {}
    with Lake(store.url).connected() as connection:
        assert connection.execute("SELECT count(DISTINCT generation) FROM events_table").fetchall() == [(2,)]
    compact(store)
    with Lake(store.url).connected() as connection:
        assert connection.execute("SELECT count(DISTINCT generation) FROM events_table").fetchall() == [(1,)]
    assert differences([home], store.url) == {}


def test_compacting_makes_few_files_and_changes_no_answer(tmp_path: Path) -> None:
    """Also while the table has rows of many loads."""
    home, store, session = growing(tmp_path)
    for number in range(4):
        grow(home, session, number)
        push_and_load([home], store)
    done = compact(store, keep_hours=0)
    assert done.files_after < done.files_before
    assert done.deleted_files >= done.files_before
    assert differences([home], store.url) == {}
    assert check(store).ok


def test_forgotten_runs_are_not_loaded_and_leave_the_table(goldens: Path, tmp_path: Path) -> None:
    """A tombstone keeps a run out of later loads, and compacting deletes its rows and their files."""
    store = store_of(tmp_path / "store")
    push(home_of(goldens), store)
    archive = store.folders("v1/")[0]
    load(store)
    with Lake(store.url).connected() as connection:
        run_id = connection.execute("SELECT run_id FROM current_events GROUP BY ALL ORDER BY count(*) DESC").fetchall()[
            0
        ][0]
        rows = connection.execute("SELECT count(*) FROM current_events WHERE run_id = ?", [run_id]).fetchall()[0][0]
    store.create(f"{forgotten_folder(archive)}{run_id}", b"{}")
    assert check(store).forgotten == rows
    files = {path.name for path in (tmp_path / "store/lake/events").rglob("*.parquet")}
    done = compact(store)
    assert done.forgotten_rows == rows
    assert done.erased_pieces > 0
    assert check(store).ok
    assert not files & {
        path.name
        for path in (tmp_path / "store/lake/events").rglob("*.parquet")
        if run_id.encode() in path.read_bytes()
    }
    shutil.rmtree(tmp_path / "store/lake")
    load(store)
    assert rows_of(store) == (815 - rows, 815 - rows)


def test_columns_are_added_to_a_table_that_lacks_them(goldens: Path, tmp_path: Path) -> None:
    """A table of an older program is read with nulls, and has the new columns after the next load."""
    import deltalake

    store = store_of(tmp_path / "store")
    push(home_of(goldens), store)
    schema = make_table(f"{store.url}/elsewhere", "events").schema().to_arrow()
    import pyarrow as pa

    old = pa.schema([field for field in pa.schema(schema) if field.name not in ("known_by", "service_tier")])
    deltalake.DeltaTable.create(table_url(store.url, "events"), schema=old, partition_by=["day"])
    load(store)
    table = open_table(store.url, "events")
    assert table is not None
    assert {"known_by", "service_tier"} <= {field.name for field in table.schema().fields}
    assert differences([goldens], store.url) == {}


def test_nothing_is_fetched_at_run_time(goldens: Path, tmp_path: Path) -> None:
    """DuckDB would fetch extensions for Delta Lake or S3 from the network: it uses those inside only."""
    store = store_of(tmp_path / "store")
    push_and_load([goldens], store)
    with Lake(store.url).connected() as connection:
        connection.execute("SELECT count(*) FROM current_events").fetchall()
        query = "SELECT extension_name FROM duckdb_extensions() WHERE loaded AND install_mode <> 'STATICALLY_LINKED'"
        assert connection.execute(query).fetchall() == []
        settings = "SELECT value FROM duckdb_settings() WHERE name LIKE 'auto%known_extensions'"
        assert connection.execute(settings).fetchall() == [("false",), ("false",)]
