"""Forgetting reaches the fleet: a tombstone, hosts that obey, pulls that obey, and a store from which it is erased."""

from __future__ import annotations

from pathlib import Path

import pytest

from archive_cases import claude_line, rows, session_path, subagent_path, synced, whole_index, written
from fleet_cases import (
    archive_id,
    folder_store,
    grown,
    indexed_events,
    kept_files,
    newest,
    segment_text,
    session_id,
    stored_events,
    stored_files,
)
from stenograph import start_run
from stenograph.archive.store.forgotten import read_forgotten
from stenograph.archive.store.home import home_of
from stenograph.errors import SourceError
from stenograph.fleet.store.erasing import delete_generation, erase_forgotten
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.pull import find_archive, pull
from stenograph.fleet.store.push import push
from stenograph.fleet.store.segment import read_segment
from stenograph.fleet.store.sent_events import generations
from stenograph.fleet.store.tombstones import Tombstone, archives_to_tell, forgotten_runs, write_tombstones

SECRET = b"unmistakableWord"


def told(store: Objects, *run_ids: str) -> None:
    """Tombstones for these runs in every archive of the store."""
    stones = [Tombstone(run_id=run_id, at="2026-01-01T00:00:00Z", by="admin", why="asked") for run_id in run_ids]
    assert write_tombstones(store, archives_to_tell(store, None)[0], stones) == {}


def with_secret(folder: Path) -> tuple[Path, str]:
    """An archive with a run, its subagent and a journal that say something unmistakable; and that run's id."""
    home, archive = folder / "home", folder / "archive"
    run_id = session_id(1)
    path = session_path(home, run_id)
    written(path, claude_line(900, text=SECRET.decode(), session=run_id))
    grown(folder)
    subagent = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    line = claude_line(901, text=SECRET.decode(), session=run_id, isSidechain=True, agentId="a1")
    written(subagent, line)
    with start_run("review", root=archive, run_id=run_id) as run:
        run.user(SECRET.decode())
    synced(home, archive)
    return archive, run_id


def contents(store: Objects) -> bytes:
    """Every byte of a store, decompressed where it is compressed."""
    found = []
    for entry in store.entries("v1/"):
        data = store.get(entry.key)
        found.append(segment_text(data) if "/events/" in entry.key else data)
        if "/bytes/" in entry.key:
            found += unpacked_frames(data)
    return b"\0".join(found)


def unpacked_frames(data: bytes) -> list[bytes]:
    """The content of every frame in a piece of a pack."""
    import zstandard

    from stenograph.archive.store.pack import frames_in

    found = []
    for frame in frames_in(data):
        payload = data[frame.place.at : frame.place.end]  # type: ignore[union-attr]
        if payload.strip(b"\0"):
            found.append(zstandard.ZstdDecompressor().decompress(payload, max_output_size=1 << 22))
    return found


def test_hosts_obey_at_their_next_push(tmp_path: Path) -> None:
    """The run is removed here, with who asked for it and why, and never kept again; the archive stays the same one."""
    archive, run_id = with_secret(tmp_path)
    store = folder_store(tmp_path)
    before = push(home_of(archive), store)
    told(store, run_id)
    assert push(home_of(archive), store, dry_run=True).forgotten == (run_id,)
    after = push(home_of(archive), store)
    assert (after.forgotten, after.archive, after.continues) == ((run_id,), before.archive, None)
    assert rows(archive, "SELECT count(*) FROM runs WHERE run_id = ?", run_id) == [(0,)]
    run = read_forgotten(archive / "forgotten.jsonl").runs[run_id]
    assert (run.by, run.why) == ("admin", "asked")
    synced(tmp_path / "home", archive)
    assert rows(archive, "SELECT count(*) FROM runs WHERE run_id = ?", run_id) == [(0,)]
    assert push(home_of(archive), store).forgotten == ()


def test_maintenance_erases_it_from_the_store(tmp_path: Path) -> None:
    """Not a byte of it is left, all else is as before, and what is brought back equals the machine that obeyed."""
    archive, run_id = with_secret(tmp_path)
    store = folder_store(tmp_path)
    home, own = home_of(archive), archive_id(archive)
    push(home, store)
    sizes = {entry for entry in store.entries("v1/") if "/bytes/" in entry.key}
    assert SECRET in contents(store)
    told(store, run_id)
    push(home, store)
    erased = erase_forgotten(store, own)
    assert (erased.runs, erased.pieces, erased.segments, erased.journals) == ((run_id,), 1, 1, 1)
    assert SECRET not in contents(store)
    assert sizes < {entry for entry in store.entries("v1/") if "/bytes/" in entry.key}
    assert stored_files(store, own, "bytes") == kept_files(archive)
    assert stored_files(store, own, "journals") == {}
    assert newest(stored_events(store, own)) == indexed_events(archive)
    again = erase_forgotten(store, own)
    assert (again.pieces, again.segments, again.journals) == (0, 0, 0)
    assert push(home, store).objects == 0
    pull(store, find_archive(store, own), home_of(tmp_path / "back"))
    assert kept_files(tmp_path / "back") == kept_files(archive)
    synced(tmp_path / "home", archive, rebuild=True)
    assert whole_index(tmp_path / "back") == whole_index(archive)


def test_what_a_machine_sends_before_it_obeys_is_erased_the_next_time(tmp_path: Path) -> None:
    """Maintenance remembers which files were the run's, and looks at no piece twice."""
    archive, run_id = with_secret(tmp_path)
    store = folder_store(tmp_path)
    home, own = home_of(archive), archive_id(archive)
    push(home, store)
    stone = f"v1/{own}/forgotten/{run_id}"
    told(store, run_id)
    erase_forgotten(store, own)
    data = store.get(stone)
    store.delete([stone])  # as if it had come while the machine was sending
    written(session_path(tmp_path / "home", run_id), claude_line(950, text=SECRET.decode(), session=run_id))
    synced(tmp_path / "home", archive)
    push(home, store)
    store.create(stone, data)
    assert SECRET in contents(store)
    erased = erase_forgotten(store, own)
    assert (erased.pieces, erased.segments) == (1, 1)
    assert SECRET not in contents(store)


def test_a_pull_obeys_before_the_machine_does(tmp_path: Path) -> None:
    """The run does not come, its content is not on the disk, and it goes where an earlier pull had brought it."""
    archive, run_id = with_secret(tmp_path)
    store = folder_store(tmp_path)
    push(home_of(archive), store)
    early, late = tmp_path / "early", tmp_path / "late"
    identity = find_archive(store, archive_id(archive))
    assert pull(store, identity, home_of(early)).forgotten == 0
    assert (early / "transcripts" / f"{run_id}.jsonl").exists()
    told(store, run_id)
    for into in (early, late):
        assert pull(store, identity, home_of(into)).forgotten == 1
        assert rows(into, "SELECT count(*) FROM runs WHERE run_id = ?", run_id) == [(0,)]
        assert rows(into, "SELECT count(*) FROM runs") == [(3,)]
        assert not (into / "transcripts" / f"{run_id}.jsonl").exists()
        for data in kept_files(into).values():
            assert all(SECRET not in content for content in unpacked_frames(data))
    assert whole_index(early) == whole_index(late)


def test_a_generation_that_is_not_the_newest_may_be_deleted(tmp_path: Path) -> None:
    """And the newest never, for the sender goes on behind it."""
    archive, store = grown(tmp_path), folder_store(tmp_path)
    own = push(home_of(archive), store).archive
    synced(tmp_path / "home", archive, rebuild=True)
    push(home_of(archive), store)
    old, new = generations(store, own)
    with pytest.raises(ValueError, match="the newest generation"):
        delete_generation(store, own, new)
    assert delete_generation(store, own, old) == 1
    assert generations(store, own) == [new]
    assert push(home_of(archive), store).objects == 0


def test_an_erased_segment_begins_and_ends_where_it_did(tmp_path: Path) -> None:
    """So a loader sees no hole, also where nothing is left of a segment."""
    home, archive, store = tmp_path / "home", tmp_path / "archive", folder_store(tmp_path)
    written(session_path(home), claude_line(1))
    written(subagent_path(home), claude_line(2, isSidechain=True, agentId="a1"))
    synced(home, archive)
    own = push(home_of(archive), store).archive
    (key,) = [entry.key for entry in store.entries(f"v1/{own}/events/")]
    before = read_segment(store.get(key)).header
    told(store, before.blocks[0].run_id)
    erase_forgotten(store, own)
    after = read_segment(store.get(key))
    assert (after.header.first, after.header.last, after.header.goal) == (before.first, before.last, before.goal)
    assert (after.header.blocks, after.header.runs, after.lines) == ((), (), [])


def test_a_machine_that_may_not_list_others_tells_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the rights of a host: create and list under its own prefix alone."""
    archive, store = grown(tmp_path), folder_store(tmp_path)
    own = push(home_of(archive), store).archive

    def refused(self: Objects, folder: str) -> list[str]:
        raise SourceError(f"cannot read {folder}: 403")

    monkeypatch.setattr(Objects, "folders", refused)
    assert archives_to_tell(store, own) == ([own], False)
    with pytest.raises(SourceError):
        archives_to_tell(store, None)


def test_every_archive_of_the_store_is_told(tmp_path: Path) -> None:
    """Also those that do not have the run: it must not come from there later."""
    store = folder_store(tmp_path)
    archives = [grown(tmp_path / name) for name in ("one", "two")]
    for archive in archives:
        push(home_of(archive), store)
    told(store, session_id(9), session_id(1))
    for archive in archives:
        assert forgotten_runs(store, archive_id(archive)) == {session_id(1), session_id(9)}
        assert push(home_of(archive), store).forgotten == (session_id(1), session_id(9))
        assert rows(archive, "SELECT count(*) FROM runs") == [(3,)]


def test_compacting_a_lake_erases_it_from_the_whole_store(tmp_path: Path) -> None:
    """From the table and from what was pushed, with the generations that were replaced; the rest answers as before."""
    from stenograph.fleet.lake.check import check
    from stenograph.fleet.lake.compact import compact
    from stenograph.fleet.lake.load import load

    archive, run_id = with_secret(tmp_path)
    store = folder_store(tmp_path)
    home, own = home_of(archive), archive_id(archive)
    push(home, store)
    load(store)
    synced(tmp_path / "home", archive, rebuild=True)
    push(home, store)
    told(store, run_id)
    push(home, store)
    load(store)
    done = compact(store, keep_hours=0)
    assert done.forgotten_rows > 0
    assert done.deleted_segments >= 1
    assert done.erased_pieces >= 3  # a piece of a pack, a segment and a journal
    assert len(generations(store, own)) == 1
    assert SECRET not in contents(store)
    assert all(SECRET not in path.read_bytes() for path in (tmp_path / "store").rglob("*.parquet"))
    assert check(store).ok
    again = compact(store, keep_hours=0)
    assert again.erased_pieces == again.deleted_segments == 0
    assert stored_files(store, own, "bytes") == kept_files(archive)
    assert newest(stored_events(store, own)) == indexed_events(archive)
