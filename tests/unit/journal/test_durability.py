"""`durability="disk"`: recorded means on the disk, and a sync serves everyone who waits."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from stenograph import Recorder, StoreError, read_events

NOTE = {"subtype": "note"}
RUN_ID = "550e8400-e29b-41d4-a716-446655440000"


class Syncs:
    """Real syncs, counted; with what had been published when each began."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self.sizes: list[int] = []
        self.published: list[int] = []
        self.recorder: Recorder | None = None
        self.error: OSError | None = None
        self.pause = 0.0
        self._sync = os.fdatasync
        self.lock = threading.Lock()
        monkeypatch.setattr(os, "fdatasync", self)

    def __call__(self, fd: int) -> None:
        with self.lock:
            self.count += 1
        if self.error is not None:
            raise self.error
        self.sizes.append(os.fstat(fd).st_size)
        if self.recorder is not None:
            self.published.append(self.recorder._fan_out.end)
        self._sync(fd)
        time.sleep(self.pause)


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> Syncs:
    return Syncs(monkeypatch)


def test_record_returns_after_the_sync_and_publishes_after_it(root: Path, syncs: Syncs) -> None:
    """Each event is written, then synced, then published, then returned."""
    with Recorder(root, durability="disk") as recorder:
        syncs.recorder = recorder
        listener = recorder.subscribe()
        ends = [0]
        for number in (1, 2, 3):
            event = recorder.record("system.event", NOTE)
            assert syncs.count == number
            ends.append(recorder.path.stat().st_size)
            assert syncs.sizes[-1] == ends[-1]  # all of the line was there to be synced …
            assert syncs.published[-1] == ends[-2]  # … and not yet published
            assert next(iter(listener)) == event
    assert [event.seq for event in read_events(recorder.path)] == [1, 2, 3]


def test_the_default_does_not_sync(root: Path, syncs: Syncs) -> None:
    """`"os"` leaves the disk to the system."""
    with Recorder(root) as recorder:
        recorder.record("system.event", NOTE)
    assert syncs.count == 0


def test_the_folder_is_synced_when_the_journal_is_made(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose name is lost is lost: the folders made for it are synced, too."""
    synced: list[str] = []
    fsync = os.fsync

    def watched(fd: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{fd}").readlink()))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", watched)
    Recorder(root, durability="disk").close()
    assert set(synced) >= {str(root / "transcripts"), str(root), str(root.parent)}


def test_threads_share_syncs(root: Path, syncs: Syncs) -> None:
    """Group commit: eight threads that wait need fewer syncs than they have events, and order holds."""
    threads, each = 8, 40
    syncs.pause = 0.001  # a disk, and no memory that only looks like one
    with Recorder(root, durability="disk", buffer=threads * each) as recorder:
        live = recorder.subscribe()

        def write() -> None:
            for _ in range(each):
                event = recorder.record("system.event", NOTE)
                assert event.seq <= recorder._commits._synced  # type: ignore[union-attr]

        writers = [threading.Thread(target=write) for _ in range(threads)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert syncs.count < threads * each
    stored = list(read_events(recorder.path))
    assert [event.seq for event in stored] == list(range(1, threads * each + 1))
    assert list(live) == stored


def test_one_sync_covers_everything_that_waits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one sync runs, all others queue up, and the next one serves them together: no fixed window."""
    started, go_on = threading.Event(), threading.Event()
    sync = os.fdatasync
    count = []

    def slow_first(fd: int) -> None:
        count.append(1)
        if len(count) == 1:
            started.set()
            assert go_on.wait(120)
        sync(fd)

    monkeypatch.setattr(os, "fdatasync", slow_first)
    with Recorder(root, durability="disk") as recorder:
        writers = [threading.Thread(target=recorder.record, args=("system.event", NOTE)) for _ in range(9)]
        writers[0].start()
        assert started.wait(120)
        for writer in writers[1:]:
            writer.start()
        while recorder.stats().seq < 9:
            pass
        go_on.set()
        for writer in writers:
            writer.join()
        assert len(count) == 2


def test_subscribers_of_a_disk_recorder_see_only_what_is_synced(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that replays the file: it stops where the disk does."""
    started, go_on = threading.Event(), threading.Event()
    sync = os.fdatasync

    def held(fd: int) -> None:
        started.set()
        assert go_on.wait(120)
        sync(fd)

    with Recorder(root, durability="disk") as recorder:
        first = recorder.record("system.event", NOTE)
        monkeypatch.setattr(os, "fdatasync", held)
        writer = threading.Thread(target=recorder.record, args=("system.event", NOTE))
        writer.start()
        assert started.wait(120)
        assert len(list(read_events(recorder.path))) == 2
        replay = recorder.subscribe(from_seq=1)
        assert list(replay._ready() or ()) == [first]
        assert list(replay._ready() or ()) == []
        go_on.set()
        writer.join()
    assert [event.seq for event in replay] == [2]


def test_a_failed_sync_ends_recording(root: Path, syncs: Syncs) -> None:
    """After it nothing can be trusted: the event raises, later ones raise before they are written, nobody sees them."""
    recorder = Recorder(root, durability="disk")
    live = recorder.subscribe()
    first = recorder.record("system.event", NOTE)
    syncs.error = OSError(5, "Input/output error")
    with pytest.raises(StoreError, match=r"cannot sync .*: Input/output error"):
        recorder.record("system.event", NOTE)
    size = recorder.path.stat().st_size
    syncs.error = None
    for _ in range(3):
        with pytest.raises(StoreError, match="open the run again"):
            recorder.record("system.event", NOTE)
    assert recorder.path.stat().st_size == size
    with pytest.raises(StoreError):
        recorder.close()
    recorder.close()
    assert list(live) == [first]
    with Recorder(root, run_id=recorder.run_id, durability="disk") as again:
        assert again.record("system.event", NOTE).seq == 3  # the second is in the file, though nobody could promise it


def test_a_failed_sync_fails_everyone_who_waits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread is told that its event is safe, and none hangs."""
    started, go_on = threading.Event(), threading.Event()

    def fail(fd: int) -> None:
        started.set()
        assert go_on.wait(120)
        raise OSError(5, "Input/output error")

    recorder = Recorder(root, durability="disk")
    monkeypatch.setattr(os, "fdatasync", fail)
    raised: list[StoreError] = []

    def write() -> None:
        with pytest.raises(StoreError) as error:
            recorder.record("system.event", NOTE)
        raised.append(error.value)

    writers = [threading.Thread(target=write) for _ in range(5)]
    writers[0].start()
    assert started.wait(120)
    for writer in writers[1:]:
        writer.start()
    while recorder.stats().seq < 5:
        pass
    go_on.set()
    for writer in writers:
        writer.join()
    assert len(raised) == 5
    with pytest.raises(StoreError):
        recorder.close()


def test_a_reopened_disk_journal_closes_at_once(root: Path) -> None:
    """There is nothing to wait for when nothing was recorded, new journal or old."""
    with Recorder(root, run_id=RUN_ID, durability="disk") as recorder:
        pass
    with Recorder(root, run_id=RUN_ID, durability="disk") as recorder:
        recorder.record("system.event", NOTE)
    for _ in range(2):
        Recorder(root, run_id=RUN_ID, durability="disk").close()
    assert recorder.stats().seq == 1


def test_a_folder_that_cannot_be_synced_leaves_no_lock(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal is a StoreError, and the journal is free again."""

    def fail(fd: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(StoreError, match="cannot sync"):
            Recorder(root, run_id=RUN_ID, durability="disk")
    Recorder(root, run_id=RUN_ID, durability="disk").close()
