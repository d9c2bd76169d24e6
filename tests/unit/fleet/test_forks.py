"""Two machines that go by one archive id: the second takes another one, and nothing of either is lost or mixed up."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from archive_cases import claude_line, session_path, synced, written
from fleet_cases import (
    archive_id,
    cloned,
    folder_store,
    grown,
    indexed_events,
    kept_files,
    newest,
    session_id,
    stored_events,
    stored_files,
)
from stenograph.archive.store.home import home_of
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.push import push
from stenograph.runs.forgetting import forget_runs, plan_of_runs


def is_whole(store: Objects, archive: Path) -> bool:
    """Whether the store has an archive, under the id that it has now, as it is."""
    return stored_files(store, archive_id(archive), "bytes") == kept_files(archive) and newest(
        stored_events(store, archive_id(archive))
    ) == indexed_events(archive)


@pytest.mark.parametrize("swap", [False, True])
def test_a_copied_machine_takes_an_id_of_its_own(tmp_path: Path, swap: bool) -> None:
    """Whichever of the two sends second; both are whole in the store, and the new id names the old one."""
    store = folder_store(tmp_path)
    first, second = cloned(tmp_path)[:: -1 if swap else 1]
    old = archive_id(first)
    assert push(home_of(first), store).continues is None
    pushed = push(home_of(second), store)
    assert (pushed.continues, archive_id(first), pushed.archive) == (old, old, archive_id(second))
    assert pushed.archive != old
    assert "has another frame" in (pushed.why or "") or "has other frames" in (pushed.why or "")
    assert json.loads(store.get(f"v1/{pushed.archive}/archive.json"))["continues"] == old
    assert is_whole(store, first)
    assert is_whole(store, second)
    assert [push(home_of(each), store).objects for each in (first, second)] == [0, 0]


def test_a_copied_machine_that_sends_events_only_is_noticed(tmp_path: Path) -> None:
    """By its blocks, and when both made their index anew by whose generation is the newest."""
    store = folder_store(tmp_path / "other")
    first, second = cloned(tmp_path)
    push(home_of(first), store, events_only=True)
    pushed = push(home_of(second), store, events_only=True)
    assert pushed.continues == archive_id(first)
    shutil.copytree(tmp_path / "original", tmp_path / "third")
    third = tmp_path / "third" / "archive"
    synced(tmp_path / "third" / "home", third, rebuild=True)
    assert push(home_of(third), store, events_only=True).continues is None
    assert push(home_of(first), store, events_only=True).continues == archive_id(third)


def rolled_back(archive: Path, old: Path) -> None:
    """The machine is restored from an old snapshot."""
    shutil.rmtree(archive)
    shutil.copytree(old, archive)


def rolled_back_and_grown(archive: Path, old: Path) -> None:
    """And goes on with something else, until it has more than the store."""
    rolled_back(archive, old)
    for number in range(20):
        session = session_id(300 + number)
        text = os.urandom(2000).hex()
        written(session_path(archive.parent / "home", session), claude_line(number, session=session, text=text))
    synced(archive.parent / "home", archive)


@pytest.mark.parametrize("accident", [rolled_back, rolled_back_and_grown])
def test_a_restored_snapshot_is_a_fork(tmp_path: Path, accident: Callable[[Path, Path], None]) -> None:
    """The store has what this archive no longer has; both histories are in it then."""
    archive, store = grown(tmp_path), folder_store(tmp_path)
    old = tmp_path / "old"
    shutil.copytree(archive, old)
    grown(tmp_path, first=100)
    before = push(home_of(archive), store)
    there = store.entries(f"v1/{before.archive}/")
    accident(archive, old)
    pushed = push(home_of(archive), store)
    assert pushed.continues == before.archive
    assert store.entries(f"v1/{before.archive}/") == there
    assert is_whole(store, archive)


def test_a_dry_run_tells_of_a_fork_and_leaves_the_id(tmp_path: Path) -> None:
    """Nothing is decided without being done."""
    store = folder_store(tmp_path)
    first, second = cloned(tmp_path)
    push(home_of(first), store)
    pushed = push(home_of(second), store, dry_run=True)
    assert pushed.why is not None
    assert archive_id(second) == archive_id(first) == pushed.archive


def test_removing_the_newest_run_is_not_a_fork(tmp_path: Path) -> None:
    """The number of a block that was removed is never another's, in this process or in the next one."""
    archive, store = grown(tmp_path, sessions=1), folder_store(tmp_path)
    home = home_of(archive)
    session = session_id(7)
    written(session_path(tmp_path / "home", session), claude_line(1, session=session))
    synced(tmp_path / "home", archive)
    before = push(home, store)
    forget_runs(home, plan_of_runs(home, [session]), why="", by="me", at="2026-01-01T00:00:00Z")
    grown(tmp_path, sessions=1, first=100)
    after = push(home, store)
    assert (after.continues, after.archive, after.generation) == (None, before.archive, before.generation)
    told = [event for event in newest(stored_events(store, after.archive)) if event["run_id"] != session]
    assert told == indexed_events(archive)
