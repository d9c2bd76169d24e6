"""Following a journal that somebody else writes."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stenograph import Event, Recorder, SourceError, follow, read_events
from stenograph.journal.follow import Follower

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
NOTE = {"subtype": "note"}
PATIENCE = 120


@pytest.fixture
def path(root: Path) -> Path:
    return root / "transcripts" / f"{RUN_ID}.jsonl"


def record(recorder: Recorder, number: int) -> list[Event]:
    return [recorder.record("system.event", NOTE) for _ in range(number)]


def until(follower: Follower, last: int) -> list[int]:
    """The numbers up to the last one; the follower is closed when it does not come."""
    watchdog = threading.Timer(PATIENCE, follower.close)
    watchdog.start()
    got = []
    try:
        for event in follower:
            got.append(event.seq)
            if event.seq >= last:
                break
    finally:
        watchdog.cancel()
    return got


WRITER = """
    import sys, time
    from stenograph import Recorder
    with Recorder(sys.argv[1], run_id=sys.argv[2]) as recorder:
        for number in range(int(sys.argv[3])):
            recorder.record("system.event", {"subtype": "n", "text": "y" * (number % 3000)})
            if number % 100 == 0:
                time.sleep(0.002)
"""


@pytest.fixture
def write_elsewhere(root: Path) -> Iterator[Callable[[int], None]]:
    """Starts another process that records so many events into the journal."""
    writers: list[subprocess.Popen[bytes]] = []

    def start(number: int) -> None:
        command = [sys.executable, "-W", "error", "-c", textwrap.dedent(WRITER), str(root), RUN_ID, str(number)]
        writers.append(subprocess.Popen(command))

    yield start
    for writer in writers:
        assert writer.wait(PATIENCE) == 0


def test_what_is_there_comes_first(root: Path, path: Path) -> None:
    """Equal to what a reader reads, then the events to come."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        record(recorder, 3)
        following = iter(follow(path))
        assert [next(following) for _ in range(3)] == list(read_events(path))
        late = recorder.record("system.event", NOTE)
        assert next(following) == late


def test_another_process_is_followed_without_a_gap(path: Path, write_elsewhere: Callable[[int], None]) -> None:
    """3,000 events while they are written; neither the file nor its folder exists at first."""
    assert not path.parent.exists()
    follower = follow(path)
    write_elsewhere(3_000)
    assert until(follower, 3_000) == list(range(1, 3_001))


def test_from_seq_begins_there(root: Path, path: Path, write_elsewhere: Callable[[int], None]) -> None:
    """Also when that number is yet to come."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        record(recorder, 5)
    assert until(follow(path, from_seq=4), 5) == [4, 5]
    follower = follow(path, from_seq=900)
    write_elsewhere(1_000)
    assert until(follower, 1_005) == list(range(900, 1_006))


def test_close_from_another_thread_ends_it(path: Path) -> None:
    """While it waits: for a folder, for a file, for events; twice is fine, and afterwards it ends at once."""
    for prepare in (lambda: None, lambda: path.parent.mkdir(parents=True), path.touch):
        prepare()
        follower = follow(path)
        timer = threading.Timer(0.2, follower.close)
        timer.start()
        assert list(follower) == []
        timer.join()
        follower.close()
        assert list(follower) == []


def test_leaving_the_context_closes_it(root: Path, path: Path) -> None:
    """`with follow(…) as events`."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        record(recorder, 2)
    with follow(path) as events:
        assert next(iter(events)).seq == 1
    assert list(events) == []


def test_a_loop_that_was_left_early_can_be_taken_up_again(root: Path, path: Path) -> None:
    """Nothing is repeated, nothing is lost."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        record(recorder, 10)
    follower = follow(path)
    assert until(follower, 3) == [1, 2, 3]
    assert until(follower, 10) == [4, 5, 6, 7, 8, 9, 10]


def test_async_for_follows_too(path: Path, write_elsewhere: Callable[[int], None]) -> None:
    """And leaves the loop free; leaving it early ends the waiting thread."""

    async def main() -> tuple[list[int], int]:
        got, ticks = [], 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.001)

        ticking = asyncio.create_task(tick())
        async with asyncio.timeout(PATIENCE):
            write_elsewhere(500)
            async for event in follow(path):
                got.append(event.seq)
                if event.seq == 500:
                    break
        ticking.cancel()
        return got, ticks

    got, ticks = asyncio.run(main())
    assert got == list(range(1, 501))
    assert ticks > 3


def test_close_ends_an_async_loop(path: Path) -> None:
    """From another task."""

    async def main() -> list[Event]:
        follower = follow(path)
        asyncio.get_running_loop().call_later(0.1, follower.close)
        async with asyncio.timeout(PATIENCE):
            return [event async for event in follower]

    assert asyncio.run(main()) == []


def test_a_half_line_waits_for_its_end(root: Path, path: Path) -> None:
    """It is not handed out before its newline, nor lost when the writer takes it back and writes another."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        record(recorder, 2)
    whole = path.read_bytes()
    end = whole.index(b"\n") + 1
    path.write_bytes(whole[: end + 20])
    follower = follow(path)
    events = iter(follower)
    assert next(events).seq == 1
    got: list[int] = []
    thread = threading.Thread(target=lambda: got.append(next(events).seq), daemon=True)
    thread.start()
    thread.join(0.1)
    assert got == []
    os.truncate(path, end)
    with path.open("ab") as file:
        file.write(whole[end:])
    thread.join(PATIENCE)
    assert got == [2]


def test_a_torn_tail_set_aside_is_survived(root: Path, path: Path, write_elsewhere: Callable[[int], None]) -> None:
    """The writer was killed; another one repairs and goes on; the follower sees one series."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        record(recorder, 3)
    with path.open("ab") as file:
        file.write(b'{"seq":4,"torn')
    follower = follow(path)
    assert until(follower, 3) == [1, 2, 3]
    write_elsewhere(3)
    assert until(follower, 6) == [4, 5, 6]


def test_a_replaced_file_is_read_again_without_repeats(root: Path, path: Path, tmp_path: Path) -> None:
    """A copy under the same name, a shrunken file, a file that was away for a while."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        record(recorder, 6)
    whole = path.read_bytes()
    half = whole[: len(whole) // 2 + 1]
    half = half[: half.rindex(b"\n") + 1]
    path.write_bytes(half)
    count = half.count(b"\n")
    follower = follow(path)
    events = iter(follower)
    assert [next(events).seq for _ in range(count)] == list(range(1, count + 1))
    copy = tmp_path / "copy"
    copy.write_bytes(whole)
    timer = threading.Timer(0.1, copy.replace, [path])
    timer.start()
    assert next(events).seq == count + 1
    timer.join()
    rest = [next(events).seq for _ in range(6 - count - 1)]
    assert rest == list(range(count + 2, 7))
    path.write_bytes(whole[: whole.index(b"\n") + 1])  # shrunk …
    path.unlink()  # … and gone
    with Recorder(root, run_id=RUN_ID) as recorder:
        record(recorder, 8)
        assert [next(events).seq for _ in range(2)] == [7, 8]


def test_a_file_that_was_cut_is_read_again_from_its_beginning(root: Path, path: Path) -> None:
    """The same file, shorter than what was read: its lines may be others by now."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        for _ in range(3):
            recorder.record("system.event", {"subtype": "long", "text": "y" * 1000})
    whole = path.read_bytes()
    follower = follow(path)
    assert [event.seq for event, _ in follower.new()] == [1, 2, 3]
    path.write_bytes(whole[: whole.index(b"\n") + 1])
    assert list(follower.new()) == []
    with Recorder(root, run_id=RUN_ID) as recorder:
        record(recorder, 5)
    assert [event.seq for event, _ in follower.new()] == [4, 5, 6]
    follower.release()


def test_a_folder_that_was_made_anew_is_watched_anew(root: Path, path: Path) -> None:
    """Removing the whole storage does not blind the follower."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        record(recorder, 1)
    follower = follow(path)
    events = iter(follower)
    assert next(events).seq == 1
    got: list[int] = []
    thread = threading.Thread(target=lambda: got.append(next(events).seq), daemon=True)
    thread.start()
    shutil.rmtree(root)
    time.sleep(0.1)
    with Recorder(root, run_id=RUN_ID) as recorder:
        record(recorder, 2)
        thread.join(PATIENCE)
    assert got == [2]


def test_what_is_not_json_is_counted(path: Path) -> None:
    """It has no number, so it is not handed out, but it is not forgotten either."""
    path.parent.mkdir(parents=True)
    path.write_bytes(b'not json\n{"seq":1,"type":"x"}\n{"seq":2,"type":"\xff"}\n')
    follower = follow(path)
    assert until(follower, 2) == [1, 2]
    assert (follower.malformed, follower.replaced) == (1, 1)


def test_every_event_comes_with_its_very_line(path: Path) -> None:
    """For whoever passes a journal on."""
    path.parent.mkdir(parents=True)
    odd = b'{ "seq":1 , "type":"x", "new":true }'
    path.write_bytes(odd + b"\n")
    event, line = next(follow(path).with_lines())
    assert (event.seq, line) == (1, odd)


def test_a_folder_in_the_journals_place_is_said(path: Path) -> None:
    """It will never become a journal by waiting."""
    path.mkdir(parents=True)
    with pytest.raises(SourceError):
        next(iter(follow(path)))


def test_following_leaves_nothing_open(root: Path, path: Path) -> None:
    """Neither a descriptor nor a watch stays when the loop is done."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        record(recorder, 2)
    until(follow(path), 2)  # the first use loads what stays for good
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(20):
        until(follow(path), 2)
    deadline = time.monotonic() + PATIENCE
    while len(os.listdir("/proc/self/fd")) > before + 5:  # noqa: PTH208  # a watch's own thread closes it, soon
        assert time.monotonic() < deadline
        time.sleep(0.01)
