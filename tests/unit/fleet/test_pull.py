"""`pull`: what was sent comes back, byte for byte, and its index is the one that was lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from archive_cases import claude_line, session_path, synced, whole_index, written
from fleet_cases import archive_id, folder_store, grown, kept_files, session_id
from stenograph import start_run
from stenograph.archive.store.home import home_of
from stenograph.errors import RunNotFound, SourceError, StoreError
from stenograph.fleet.store.objects import Objects, open_store
from stenograph.fleet.store.pull import Pulled, find_archive, pull
from stenograph.fleet.store.push import push
from stenograph.runs.forgetting import forget_runs, plan_of_runs


def brought(store: Objects, archive: Path, into: Path) -> Pulled:
    """What a pull of an archive into a folder brought."""
    return pull(store, find_archive(store, archive_id(archive)), home_of(into))


def assert_equal(into: Path, archive: Path) -> None:
    """Packs, identity, journals and index of one archive are those of another."""
    assert kept_files(into) == kept_files(archive)
    for name in ("kept/archive.json", *(f"transcripts/{path.name}" for path in archive.glob("transcripts/*.jsonl"))):
        assert (into / name).read_bytes() == (archive / name).read_bytes()
    assert whole_index(into) == whole_index(archive)


def test_an_archive_comes_back_as_it_was(tmp_path: Path, bucket: str) -> None:
    """Packs, journals, identity and index, from a folder and from a bucket, at once and as it grows."""
    archive, stores = tmp_path / "archive", [folder_store(tmp_path), open_store(bucket)]
    for first in (1, 100):
        with start_run("review", root=archive) as run:
            run.user(f"Hello {first}.")
        grown(tmp_path, first=first)
        for number, store in enumerate(stores):
            push(home_of(archive), store)
            into = tmp_path / f"back{number}"
            brought(store, archive, into)
            assert_equal(into, archive)
    assert (into / "kept" / "000001.pack").stat().st_mode & 0o077 == 0


def test_what_came_half_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece that was being written is cut, and what is there is not fetched again."""
    monkeypatch.setattr("stenograph.fleet.store.sent_packs.PIECE_BYTES", 1000)
    archive, store, into = grown(tmp_path, sessions=8), folder_store(tmp_path), tmp_path / "back"
    push(home_of(archive), store)
    whole = brought(store, archive, into).bytes
    pack = into / "kept" / "000001.pack"
    shutil.rmtree(into / "transcripts", ignore_errors=True)
    (into / "index.db").unlink()
    pack.write_bytes(pack.read_bytes()[:-1500])
    again = brought(store, archive, into).bytes
    assert 1500 < again < whole
    assert_equal(into, archive)
    assert brought(store, archive, into).bytes == 0


def test_the_machine_that_gets_it_goes_on(tmp_path: Path) -> None:
    """It syncs and sends under the same id, behind what is there."""
    archive, store, into = grown(tmp_path), folder_store(tmp_path), tmp_path / "back"
    push(home_of(archive), store)
    brought(store, archive, into)
    shutil.rmtree(archive)
    written(session_path(tmp_path / "home"), claude_line(500))
    synced(tmp_path / "home", into)
    pushed = push(home_of(into), store)
    assert (pushed.continues, pushed.archive) == (None, archive_id(into))
    brought(store, into, tmp_path / "again")
    assert_equal(tmp_path / "again", into)


def test_content_that_was_removed_does_not_come_back(tmp_path: Path) -> None:
    """A machine that removed a run and sent that has packs with zeros; so has who brings them back."""
    archive, store, into = grown(tmp_path), folder_store(tmp_path), tmp_path / "back"
    home = home_of(archive)
    push(home, store)
    brought(store, archive, into)
    forget_runs(home, plan_of_runs(home, [session_id(1)]), why="", by="me", at="2026-01-01T00:00:00Z")
    push(home, store)
    brought(store, archive, into)
    assert kept_files(into) == kept_files(archive)
    synced(tmp_path / "home", archive, rebuild=True)
    assert_equal(into, archive)


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    """An archive of another id, one that has more, one that went another way: nothing of it is touched."""
    archive, store = grown(tmp_path / "one"), folder_store(tmp_path)
    push(home_of(archive), store)
    other = grown(tmp_path / "two")
    with pytest.raises(StoreError, match=f"holds the archive {archive_id(other)}; give another folder"):
        brought(store, archive, other)
    shutil.copytree(archive, tmp_path / "more")
    written(session_path(tmp_path / "one" / "home"), claude_line(500))
    synced(tmp_path / "one" / "home", tmp_path / "more")
    with pytest.raises(StoreError, match="has more than file://"):
        brought(store, archive, tmp_path / "more")
    grown(tmp_path / "one", first=100)
    push(home_of(archive), store)
    with pytest.raises(StoreError, match="is not what file://"):
        brought(store, archive, tmp_path / "more")


def test_what_cannot_be_pulled_is_one_line(tmp_path: Path) -> None:
    """An archive that is not there, one that sends events only, and one of which something was deleted."""
    archive, store = grown(tmp_path), folder_store(tmp_path)
    with pytest.raises(RunNotFound, match="no archive is called"):
        brought(store, archive, tmp_path / "back")
    push(home_of(archive), store, events_only=True)
    with pytest.raises(SourceError, match="sends only events"):
        brought(store, archive, tmp_path / "back")
    push(home_of(archive), store)
    grown(tmp_path, first=100)
    push(home_of(archive), store)
    first, *_ = store.entries(f"v1/{archive_id(archive)}/bytes/")
    store.delete([first.key])
    with pytest.raises(SourceError, match=r"the store lacks bytes 0 to .* push that archive again"):
        brought(store, archive, tmp_path / "back")


@pytest.mark.parametrize("said", [b"{", b'{"id": 5}', b'{"id": "../x", "made_at": "x", "host": "x", "user": "x"}'])
def test_an_identity_that_says_nothing_or_another_archive_is_refused(tmp_path: Path, said: bytes) -> None:
    """Others write to a shared store, too: what they put there is one line, not a traceback."""
    archive = "550e8400-e29b-41d4-a716-446655440000"
    store = folder_store(tmp_path)
    store.create(f"v1/{archive}/archive.json", said)
    for prefix in (archive, "550e"):
        with pytest.raises(SourceError, match=r"archive\.json of .* does not say which archive it is"):
            find_archive(store, prefix)
