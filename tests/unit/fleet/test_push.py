"""`push`: everything of an archive is in the store, once, byte for byte."""

from __future__ import annotations

from pathlib import Path

from archive_cases import synced
from fleet_cases import archive_id, folder_store, grown, indexed_events, kept_files, newest, stored_events, stored_files
from stenograph.archive.store.home import home_of
from stenograph.fleet.store.push import push


def test_everything_is_in_the_store(tmp_path: Path) -> None:
    """Packs byte for byte, every event once, and who sends."""
    archive = grown(tmp_path)
    store = folder_store(tmp_path)
    pushed = push(home_of(archive), store)
    assert stored_files(store, pushed.archive, "bytes") == kept_files(archive)
    assert newest(stored_events(store, pushed.archive)) == indexed_events(archive)
    assert store.get(f"v1/{pushed.archive}/archive.json") == (archive / "kept" / "archive.json").read_bytes().strip()
    assert pushed.events == len(indexed_events(archive))
    assert pushed.archive == archive_id(archive)


def test_only_what_is_new_is_sent(tmp_path: Path) -> None:
    """The second push sends nothing, the third what grew, behind what is there."""
    archive = grown(tmp_path)
    store = folder_store(tmp_path)
    before = push(home_of(archive), store)
    assert push(home_of(archive), store).objects == 0
    there = store.entries("v1/")
    grown(tmp_path, first=100)
    after = push(home_of(archive), store)
    assert set(there) < set(store.entries("v1/"))
    assert stored_files(store, after.archive, "bytes") == kept_files(archive)
    assert newest(stored_events(store, after.archive)) == indexed_events(archive)
    assert before.events + after.events == len(indexed_events(archive))


def test_an_index_made_anew_is_another_generation(tmp_path: Path) -> None:
    """Its events are sent again, whole; bytes are not."""
    archive = grown(tmp_path)
    store = folder_store(tmp_path)
    first = push(home_of(archive), store)
    synced(tmp_path / "home", archive, rebuild=True)
    second = push(home_of(archive), store)
    assert (first.generation[:7], second.generation[:7]) == ("000001-", "000002-")
    assert second.bytes == 0
    assert newest(stored_events(store, second.archive)) == indexed_events(archive)


def test_a_dry_run_says_what_is_behind(tmp_path: Path) -> None:
    """And writes nothing, not even what tries the store."""
    archive = grown(tmp_path)
    store = folder_store(tmp_path)
    home = home_of(archive)
    behind = push(home, store, dry_run=True).behind
    assert behind > sum(map(len, kept_files(archive).values()))
    assert store.entries("v1/") == []
    push(home, store)
    assert push(home, store, dry_run=True).behind == 0
