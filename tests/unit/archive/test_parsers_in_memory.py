"""What a watcher has in memory from sync to sync: never more than a shortcut, whoever writes or dies in between."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from archive_cases import claude_line, codex_line, rows, session_path, synced, thread_path, whole_index, written
from stenograph.archive.index.schema import open_index
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import roots_of
from stenograph.archive.keep.watching import Writer, _transcripts
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store


class World:
    """A home with one session, and its archive."""

    def __init__(self, folder: Path) -> None:
        self.home, self.archive = folder / "home", folder / "archive"
        self.file = session_path(self.home)
        self.writer = Writer(home_of(self.archive))

    def watched(self, *lines: bytes) -> int:
        """Lines that are appended, and a sync of the watcher; how many events it brought."""
        written(self.file, *lines)
        with self.writer.writing() as store:
            return sync(store, roots_of({}, self.home, self.archive), only={str(self.file)}).events

    def states(self) -> list[int]:
        """How long the parsers in the index are."""
        return [length for (length,) in rows(self.archive, "SELECT length(state) FROM parsers")]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A session that was synced as it began, in the middle of a line."""
    world = World(tmp_path)
    line = claude_line(2, "assistant")
    written(world.file, claude_line(1), line[:40])
    synced(world.home, world.archive)
    assert world.watched(line[40:], claude_line(3, "call")) >= 2
    return world


def _killed(world: World) -> None:
    world.writer.close()


def _saved_and_closed(world: World) -> None:
    world.writer.save_and_close()
    assert all(world.states())


def _other_writer(world: World) -> None:
    written(world.file, claude_line(4, "result"))
    written(thread_path(world.home), codex_line(0), codex_line(1))
    assert synced(world.home, world.archive).grown == 1


def _rebuilt(world: World) -> None:
    synced(world.home, world.archive, rebuild=True)


@pytest.mark.parametrize("between", [lambda world: None, _killed, _saved_and_closed, _other_writer, _rebuilt])
def test_a_watcher_goes_on_whatever_came_between(world: World, between: Callable[[World], None]) -> None:
    """What it has in memory is not in the index; where that is lost or out of date, what is kept is read again."""
    assert world.states() == [0]
    between(world)
    world.watched(claude_line(5, "assistant", "the end of it"))
    world.watched(claude_line(6))
    world.writer.save_and_close()
    again = synced(world.home, world.archive)
    assert (again.events, again.grown, again.rewritten) == (0, 0, 0)
    maintained = whole_index(world.archive)
    synced(world.home, world.archive, rebuild=True)
    assert whole_index(world.archive) == maintained
    lines = world.file.read_bytes().count(b"\n")
    assert rows(world.archive, "SELECT lines, malformed FROM files WHERE path = ?", str(world.file)) == [(lines, 0)]
    fresh = world.archive.with_name("fresh")
    synced(world.home, fresh)
    events = "SELECT type, timestamp, call_id, message_id FROM events ORDER BY 1, 2, 3, 4"
    assert rows(world.archive, events) == rows(fresh, events)


def test_others_can_write_between_two_syncs(world: World) -> None:
    """The lock is held during a sync only, and a sync that changes nothing commits nothing."""
    reader = open_index(world.archive, readonly=True)
    before = reader.execute("PRAGMA data_version").fetchone()
    with world.writer.writing() as store:
        sync(store, roots_of({}, world.home, world.archive), only=set())
    assert reader.execute("PRAGMA data_version").fetchone() == before
    with Store(home_of(world.archive)) as other:
        assert other.events >= 3
    reader.close()
    world.writer.close()


def test_more_files_than_stay_in_memory_are_written(tmp_path: Path) -> None:
    """The oldest first; all of them are read on from where they were."""
    world = World(tmp_path)
    paths = [session_path(world.home, f"0f1e2d3c-4b5a-4978-8695-{number:012}") for number in range(20)]
    for number in range(3):
        for path in paths:
            written(path, claude_line(number, session=path.stem))
        with world.writer.writing() as store:
            sync(store, roots_of({}, world.home, world.archive))
    assert world.states().count(0) == 16
    assert rows(world.archive, "SELECT events, count(*) FROM runs GROUP BY 1") == [(3, 20)]
    world.writer.save_and_close()
    assert all(world.states())


def test_the_archive_s_own_files_are_not_a_reason_to_sync(tmp_path: Path) -> None:
    """They change with every sync; a watcher that took them for news would never rest."""
    archive = tmp_path / "archive"
    (archive / "transcripts").mkdir(parents=True)
    own = {str(archive / name) for name in ("write.lock", "last_sync", "index.db-wal", "some.jsonl")}
    journal = str(archive / "transcripts" / "0f1e2d3c.jsonl")
    assert _transcripts(own, [archive], archive) == set()
    assert _transcripts({*own, journal}, [archive], archive) == {journal}
    assert _transcripts({str(archive / "transcripts")}, [archive], archive) is None
