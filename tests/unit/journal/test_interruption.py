"""Signals and finalizers inside the critical section: Ctrl-C is how many a run ends."""

from __future__ import annotations

import contextlib
import dis
import gc
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from stenograph import Recorder, StoreError, Subscription, read_events, start_run, verify_journal
from stenograph.errors import StoreClosed
from stenograph.journal import fanout, mailbox
from stenograph.journal.recorder import Durability

PATIENCE = 120
"""Seconds after which something hangs; nothing is measured by it."""
NOTE = {"subtype": "note"}
DURABILITIES: list[Durability] = ["os", "disk"]


def once_after(function: Callable[..., Any], act: Callable[[], None]) -> Callable[..., Any]:
    """The function, with something happening right after its first call returned, as a signal handler would."""
    calls = []

    def patched(*args: Any) -> Any:
        result = function(*args)
        calls.append(1)
        if len(calls) == 1:
            act()
        return result

    return patched


def once_before(function: Callable[..., Any], act: Callable[[], None]) -> Callable[..., Any]:
    """The function, with something happening right before its first call."""
    calls = []

    def patched(*args: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            act()
        return function(*args)

    return patched


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("durability", DURABILITIES)
def test_an_interruption_after_the_write_keeps_the_series_whole(
    root: Path, durability: Durability, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line is in the file, so it counts: its number is not given out twice, and subscribers see it once."""
    with Recorder(root, durability=durability) as recorder:
        plain, replaying = recorder.subscribe(), recorder.subscribe(from_seq=1)
        recorder.record("system.event", NOTE)
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", once_after(os.write, interrupt))
            with pytest.raises(KeyboardInterrupt):
                recorder.record("system.event", NOTE)
        assert recorder.record("system.event", NOTE).seq == 3
        assert recorder.stats().events == 3
        assert recorder.stats().bytes == recorder.path.stat().st_size
    stored = list(read_events(recorder.path))
    assert [event.seq for event in stored] == [1, 2, 3]
    assert list(plain) == list(replaying) == stored


@pytest.mark.parametrize("durability", DURABILITIES)
def test_an_interruption_before_the_write_uses_no_number(
    root: Path, durability: Durability, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was written, so nothing counts."""
    with Recorder(root, durability=durability) as recorder:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", once_before(os.write, interrupt))
            with pytest.raises(KeyboardInterrupt):
                recorder.record("system.event", NOTE)
        assert recorder.record("system.event", NOTE).seq == 1
    assert [event.seq for event in read_events(recorder.path)] == [1]


@pytest.mark.parametrize("durability", DURABILITIES)
def test_closing_after_an_interruption_publishes_what_was_written(
    root: Path, durability: Durability, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when nobody records after it, what is stored is what is live."""
    recorder = Recorder(root, durability=durability)
    plain, replaying = recorder.subscribe(), recorder.subscribe(from_seq=1)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", once_after(os.write, interrupt))
        with pytest.raises(KeyboardInterrupt):
            recorder.record("system.event", NOTE)
    recorder.close()
    assert list(plain) == list(replaying) == list(read_events(recorder.path))
    assert recorder.stats().seq == 1


class InterruptedAt:
    """Raises Ctrl-C when the publishing code is about to run its n-th line."""

    def __init__(self, line: int) -> None:
        self.left = line

    def __enter__(self) -> InterruptedAt:
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, arg: object) -> Any:
        return self._line if frame.f_code.co_filename in (fanout.__file__, mailbox.__file__) else None

    def _line(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self._line


def listeners(recorder: Recorder) -> dict[str, Subscription]:
    """One that keeps up, one that has no room, one that has some again, one that reads the file."""
    found = {"current": recorder.subscribe(), "full": recorder.subscribe(), "recovering": recorder.subscribe()}
    found["behind"] = recorder.subscribe(from_seq=1)
    loops = {name: iter(each) for name, each in found.items()}
    for _ in range(6):
        recorder.record("system.event", NOTE)
        next(loops["current"])
    next(loops["recovering"])
    return found


def test_an_interruption_while_publishing_reaches_every_subscriber_once(root: Path) -> None:
    """Wherever it comes: nobody gets an event twice, and who has room gets every one."""
    line = 0
    while True:
        line += 1
        recorder = Recorder(root, buffer=4)
        heard = listeners(recorder)
        with InterruptedAt(line) as interruption, contextlib.suppress(KeyboardInterrupt):
            recorder.record("system.event", NOTE)
        recorder.record("system.event", NOTE)
        recorder.close()
        assert {name: [event.seq for event in each] for name, each in heard.items()} == {
            "current": [7, 8],
            "full": [1, 2, 3, 4],
            "recovering": [2, 3, 4, 7],
            "behind": [1, 2, 3, 4, 5, 6, 7, 8],
        }, f"interrupted at line {line}"
        assert heard["full"].dropped >= 4
        if interruption.left > 0:
            break
    assert line > 20


def test_a_half_line_of_an_interruption_is_taken_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that was cut short and then interrupted leaves no half line before the next one."""
    with Recorder(root) as recorder:
        recorder.record("system.event", NOTE)
        write = os.write

        def cut(fd: int, data: bytes) -> int:
            monkeypatch.setattr(os, "write", once_before(write, interrupt))
            return write(fd, data[:10])

        monkeypatch.setattr(os, "write", cut)
        with pytest.raises(KeyboardInterrupt):
            recorder.record("system.event", NOTE)
        monkeypatch.undo()
        assert recorder.record("system.event", NOTE).seq == 2
    assert verify_journal(recorder.path).ok


def test_foreign_lines_are_not_mistaken_for_the_one_in_doubt(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody has appended to the journal; the numbers still go on from ours."""
    with Recorder(root) as recorder:
        recorder.record("system.event", NOTE)
        recorder.record("system.event", NOTE)
        with recorder.path.open("a") as file:
            file.write('not json\n{"seq":1,"type":"x"}\n{"seq":77,"type":"x"}\n')
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", once_after(os.write, interrupt))
            with pytest.raises(KeyboardInterrupt):
                recorder.record("system.event", NOTE)
        assert recorder.record("system.event", NOTE).seq == 4
        assert recorder.stats().events == 4


def test_an_interrupted_sync_hands_its_turn_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C during fdatasync, where "disk" spends its time, neither hangs the next record nor the close."""
    with Recorder(root, durability="disk") as recorder:
        listener = recorder.subscribe()
        with monkeypatch.context() as patch:
            patch.setattr(os, "fdatasync", once_before(os.fdatasync, interrupt))
            with pytest.raises(KeyboardInterrupt):
                recorder.record("system.event", NOTE)
        assert recorder.record("system.event", NOTE).seq == 2
        with monkeypatch.context() as patch:
            patch.setattr(os, "fdatasync", once_after(os.fdatasync, interrupt))
            with pytest.raises(KeyboardInterrupt):
                recorder.record("system.event", NOTE)
    assert list(listener) == list(read_events(recorder.path))
    assert recorder.stats().seq == 3


def test_a_signal_handler_that_records_is_refused_and_not_hung(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs in the thread that is inside `record`; waiting for that would never end."""
    refused = []
    with Recorder(root) as recorder:

        def handle() -> None:
            with pytest.raises(StoreError, match="this very thread") as error:
                recorder.record("error", {"message": "terminated"})
            refused.append(error)

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", once_after(os.write, handle))
            assert recorder.record("system.event", NOTE).seq == 1
        assert len(refused) == 1
        assert recorder.record("system.event", NOTE).seq == 2
        assert recorder.stats().failed == 1
    assert [event.type for event in read_events(recorder.path)] == ["system.event", "system.event"]


def test_a_signal_handler_that_raises_what_its_record_raised_is_settled(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outer record then raises a StoreError although its line is there; the number is still not used twice."""
    with Recorder(root) as recorder:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", once_after(os.write, lambda: recorder.record("system.event", NOTE) and None))
            with pytest.raises(StoreError):
                recorder.record("system.event", NOTE)
        assert recorder.record("system.event", NOTE).seq == 2
    assert [event.seq for event in read_events(recorder.path)] == [1, 2]


def test_a_signal_handler_may_record_during_a_sync(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In "disk" mode the lock is free while the disk works; both events are stored, in order, and seen once."""
    with Recorder(root, durability="disk") as recorder:
        listener = recorder.subscribe()
        inner = []

        def handle() -> None:
            inner.append(recorder.record("error", {"message": "terminated"}))

        with monkeypatch.context() as patch:
            patch.setattr(os, "fdatasync", once_after(os.fdatasync, handle))
            assert recorder.record("system.event", NOTE).seq == 1
        assert [event.seq for event in inner] == [2]
    assert list(listener) == list(read_events(recorder.path))


def test_a_signal_handler_may_close(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The write below it then fails cleanly, and never reaches another file that got the same descriptor."""
    recorder = Recorder(root)
    other = root / "other"
    descriptors = [recorder._file.fd]

    def handle() -> None:
        recorder.close()
        descriptors.append(os.open(other, os.O_WRONLY | os.O_CREAT))

    monkeypatch.setattr(recorder._file, "append", once_before(recorder._file.append, handle))
    with pytest.raises(StoreError, match="Bad file descriptor"):
        recorder.record("system.event", NOTE)
    os.close(descriptors[1])
    assert descriptors[0] == descriptors[1]
    assert other.read_bytes() == b""
    assert recorder.path.read_bytes() == b""


def test_a_run_that_is_interrupted_while_recording_still_ends(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C inside a recording call becomes the run's error, and the journal is in order."""
    run = start_run("r", root=root)

    def host() -> None:
        with run, run.step("s"):
            monkeypatch.setattr(os, "write", once_after(os.write, interrupt))
            run.user("hello")

    with pytest.raises(KeyboardInterrupt):
        host()
    report = verify_journal(run.path)
    assert report.ok, report.findings
    assert [event.type for event in read_events(run.path)] == [
        "run.started",
        "step.started",
        "message.user",
        "step.completed",
        "run.completed",
    ]


class InterruptedAtCheck:
    """Raises Ctrl-C at the n-th moment at which Python would, in our own code and in the library's below it.

    Python looks for signals when a function begins, after each call and at each turn of a loop, and nowhere else.
    """

    FILES = (str(Path(fanout.__file__).parent), threading.__file__, contextlib.__file__)

    def __init__(self, moment: int) -> None:
        self.left = moment
        self.where = "nowhere"
        self._last: dict[FrameType, str] = {}
        self._thread = threading.get_ident()
        self._tracer = self._enter  # kept: Python 3.11 loses a reference to it

    def __enter__(self) -> InterruptedAtCheck:
        gc.disable()  # whatever is raised inside a finalizer is lost
        if sys.version_info >= (3, 12):  # whose `settrace` does not show all opcodes
            monitoring = sys.monitoring
            monitoring.use_tool_id(monitoring.DEBUGGER_ID, "interruption")
            monitoring.register_callback(monitoring.DEBUGGER_ID, monitoring.events.INSTRUCTION, self._instruction)
            monitoring.set_events(monitoring.DEBUGGER_ID, monitoring.events.INSTRUCTION)
        else:
            sys.settrace(self._tracer)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if sys.version_info >= (3, 12):
            sys.monitoring.set_events(sys.monitoring.DEBUGGER_ID, 0)
            sys.monitoring.free_tool_id(sys.monitoring.DEBUGGER_ID)
        else:
            sys.settrace(None)
        gc.enable()
        return kind is KeyboardInterrupt

    def _enter(self, frame: FrameType, event: str, arg: object) -> Any:
        if self.left <= 0 or not frame.f_code.co_filename.startswith(self.FILES):
            return None
        frame.f_trace_opcodes = True
        return self._step

    def _step(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "opcode":
            self._look(frame, frame.f_lasti)
        return self._step

    def _instruction(self, code: CodeType, offset: int) -> None:
        if self.left > 0 and code.co_filename.startswith(self.FILES) and threading.get_ident() == self._thread:
            self._look(sys._getframe(1), offset)

    def _look(self, frame: FrameType, offset: int) -> None:
        last = self._last.get(frame, "")
        self._last[frame] = dis.opname[frame.f_code.co_code[offset]]
        if last.startswith(("RESUME", "CALL", "JUMP_BACKWARD")) and not last.startswith("CALL_INTRINSIC"):
            self.left -= 1
            if self.left == 0:
                self.where = f"{frame.f_code.co_qualname}, line {frame.f_lineno}, after {last}"
                raise KeyboardInterrupt


def interruptions(least: int, first: int = 1) -> Iterator[InterruptedAtCheck]:
    """At one moment after the other, until none is left; there must be more than `least`."""
    for moment in itertools.count(first):
        interruption = InterruptedAtCheck(moment)
        yield interruption
        if interruption.left > 0:
            break
    assert moment > least


class Listeners:
    """Threads that listen to a recorder: two that are parked, and later one that had not listened before."""

    def __init__(self, recorder: Recorder) -> None:
        self.late = recorder.subscribe()
        self.parked = [recorder.subscribe(from_seq=1), recorder.subscribe()]
        self.heard: dict[int, list[int]] = {}
        self._threads = [self._start(each) for each in self.parked]
        for each in self.parked:
            while not each._box.wakes:
                time.sleep(0.0005)

    def _start(self, subscription: Subscription) -> threading.Thread:
        heard = self.heard[id(subscription)] = []
        thread = threading.Thread(target=lambda: heard.extend(event.seq for event in subscription), daemon=True)
        thread.start()
        return thread

    def end(self) -> tuple[list[int], ...]:
        """What each has heard; none may wait for ever."""
        self._threads.append(self._start(self.late))
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        return tuple(self.heard[id(each)] for each in (*self.parked, self.late))


@pytest.mark.parametrize("durability", DURABILITIES)
def test_no_interruption_of_a_record_leaves_a_listener_waiting(root: Path, durability: Durability) -> None:
    """Wherever Ctrl-C comes while the parked are rung and the slow is put aside: all of them end, and have all."""
    for interruption in interruptions(least=50):
        recorder = Recorder(root, durability=durability, buffer=1)
        listeners = Listeners(recorder)
        with interruption:
            for _ in range(2):
                recorder.record("system.event", NOTE)
        recorder.record("system.event", NOTE)
        recorder.close()
        stored = [event.seq for event in read_events(recorder.path)]
        lossless, current, late = listeners.end()
        assert lossless == stored == list(range(1, len(stored) + 1)), f"interrupted in {interruption.where}"
        assert sorted({*current}) == current
        assert late == stored[: len(late)]


@pytest.mark.parametrize("durability", DURABILITIES)
def test_no_interruption_of_a_close_leaves_a_listener_waiting(root: Path, durability: Durability) -> None:
    """Whoever presses Ctrl-C while a recorder closes still sees it closed, and its listeners end."""
    for interruption in interruptions(least=10, first=2):  # at the first, nothing of it has begun
        recorder = Recorder(root, durability=durability)
        listeners = Listeners(recorder)
        recorder.record("system.event", NOTE)
        with interruption:
            recorder.close()
        assert listeners.end() == ([1], [1], [1]), f"interrupted in {interruption.where}"
        with pytest.raises(StoreClosed):
            recorder.record("system.event", NOTE)
        Recorder(root, run_id=recorder.run_id).close()  # and its lock is free


def test_no_interruption_of_a_sync_leaves_another_thread_waiting(root: Path) -> None:
    """A thread that was interrupted in its turn at the disk, and then waits for the others, does not block them."""
    with Recorder(root, durability="disk") as recorder:
        for interruption in interruptions(least=10):
            with interruption:
                recorder.record("system.event", NOTE)
            thread = threading.Thread(target=recorder.record, args=("system.event", NOTE), daemon=True)
            thread.start()
            thread.join(PATIENCE)
            assert not thread.is_alive(), f"interrupted in {interruption.where}"
    assert verify_journal(recorder.path).ok


REAL_SIGNALS = """
    import os, signal, sys, threading, time
    from stenograph import Recorder, read_events

    root, durability, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    swallowed = []
    sys.unraisablehook = swallowed.append  # a Ctrl-C inside a finalizer: Python raises it nowhere
    for number in range(rounds):
        swallowed.clear()
        recorder = Recorder(root, durability=durability)
        subscriptions = [recorder.subscribe(from_seq=1) for _ in range(2)]
        got = [[] for _ in subscriptions]

        def listen(subscription, seqs):
            seqs.extend(event.seq for event in subscription)

        threads = [threading.Thread(target=listen, args=pair) for pair in zip(subscriptions, got)]

        def fire():
            time.sleep(0.004 + number * 0.0001)
            os.kill(os.getpid(), signal.SIGINT)

        threads.append(threading.Thread(target=fire))
        try:
            for thread in threads:
                thread.start()
            while not swallowed:
                recorder.record("system.event", {"subtype": "x", "text": "y" * 1500})
        except KeyboardInterrupt:
            pass
        threads[-1].join()
        recorder.record("system.event", {"subtype": "after"})
        recorder.close()
        for thread in threads:
            thread.join()
        stored = [event.seq for event in read_events(recorder.path)]
        assert stored == list(range(1, len(stored) + 1)), stored[-5:]
        assert got == [stored, stored], (number, [each[-5:] for each in got], stored[-5:])
"""


@pytest.mark.parametrize("durability", DURABILITIES)
def test_real_interrupts_at_random_moments(root: Path, python: Any, durability: Durability) -> None:
    """Forty real SIGINTs into a busy recorder: each series is whole, each subscriber saw each event once."""
    python(REAL_SIGNALS, root, durability, 40)


HANDLER = """
    import signal, sys, threading, os
    from stenograph import start_run, read_events

    done = threading.Event()
    with start_run("r", root=sys.argv[1], durability=sys.argv[2]) as run:
        sent, handled = [], []

        def handle(*_):
            run.error("signal")
            handled.append(1)

        signal.signal(signal.SIGUSR1, handle)

        def fire():
            while not done.wait(0.005):
                if len(handled) == len(sent):  # on a slow disk, each would interrupt the handler of the one before
                    sent.append(1)
                    os.kill(os.getpid(), signal.SIGUSR1)

        thread = threading.Thread(target=fire)
        thread.start()
        for _ in range(100):
            run.system("note")
        done.set()
        thread.join()
        lost = run.lost
    events = list(read_events(run.path))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert sum(event.type == "system.event" for event in events) == 100
    print(lost)
"""


@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_host_whose_signal_handler_records_never_hangs(
    root: Path, python: Any, durability: Durability, lenient: None
) -> None:
    """Many signals whose handler records into the run: what fits is recorded, the rest is counted as lost."""
    assert int(python(HANDLER, root, durability).stdout) >= 0
