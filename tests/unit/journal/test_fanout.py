"""Live events: bounded, counted, in order, and never in the writer's way."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from stenograph import Event, InvalidEvent, Recorder, RunNotFound, Subscription, read_events
from stenograph.journal import fanout

NOTE = {"subtype": "note"}
PATIENCE = 120


def record(recorder: Recorder, number: int) -> list[Event]:
    return [recorder.record("system.event", NOTE) for _ in range(number)]


def take(events: Iterator[Event], number: int) -> list[int]:
    return [next(events).seq for _ in range(number)]


def seqs(events: Iterable[Event]) -> list[int]:
    return [event.seq for event in events]


class Listener(threading.Thread):
    """Consumes a subscription in a thread of its own."""

    def __init__(self, subscription: Subscription, *, slow_every: int = 0) -> None:
        super().__init__(daemon=True)
        self.got: list[int] = []
        self._subscription = subscription
        self._slow_every = slow_every
        self.start()

    def run(self) -> None:
        for event in self._subscription:
            self.got.append(event.seq)
            if self._slow_every and event.seq % self._slow_every == 0:
                time.sleep(0.002)

    def result(self) -> list[int]:
        self.join(PATIENCE)
        assert not self.is_alive(), "the subscription did not end"
        return self.got


def wait_until_parked(*subscriptions: Subscription) -> None:
    """Return when the subscribers have gone to sleep for good."""
    deadline = time.monotonic() + PATIENCE
    while not all(set(each._box.wakes) & set(each._hub._calls) for each in subscriptions):
        assert time.monotonic() < deadline, "the subscriber never parked"
        time.sleep(0.001)


def test_a_full_buffer_drops_the_newest_and_counts_them(root: Path) -> None:
    """Buffer 4, ten events, nobody reads: the first four are there, six are counted, for it and in total."""
    with Recorder(root, buffer=4) as recorder:
        slow, other = recorder.subscribe(), recorder.subscribe()
        record(recorder, 10)
        assert slow.dropped == 6
        assert take(iter(slow), 4) == [1, 2, 3, 4]
        stats = recorder.stats()
        assert stats.dropped == 12
        assert [(each.number, each.waiting, each.dropped) for each in stats.subscribers] == [(1, 0, 6), (2, 4, 6)]
        record(recorder, 1)  # it has drained, so it takes events again
        assert (slow.dropped, other.dropped) == (6, 7)
    assert seqs(slow) == [11]
    assert seqs(read_events(recorder.path)) == list(range(1, 12))


def test_the_buffer_is_256_unless_given(root: Path) -> None:
    """The default bound of the contract."""
    with Recorder(root) as recorder:
        slow = recorder.subscribe()
        record(recorder, 300)
        assert slow.dropped == 44
    assert seqs(slow) == list(range(1, 257))


@pytest.mark.parametrize("how", ["close", "forget"])
def test_drops_of_those_who_left_stay_in_the_total(root: Path, how: str) -> None:
    """A subscriber that was closed or forgotten is no longer listed, but what it missed is still counted."""
    with Recorder(root, buffer=2) as recorder:
        subscription = recorder.subscribe()
        record(recorder, 5)
        if how == "close":
            subscription.close()
        del subscription
        gc.collect()
        for _ in range(2):
            assert recorder.stats().dropped == 3
            assert recorder.stats().subscribers == ()
            record(recorder, 1)
        assert recorder._fan_out._boxes == []
    assert recorder.stats().dropped == 3


def test_a_slow_subscriber_never_delays_a_write(root: Path) -> None:
    """With nobody reading, thousands of events are written while the subscriber's buffer is full."""
    with Recorder(root, buffer=1) as recorder:
        stuck = recorder.subscribe()
        lossless = recorder.subscribe(from_seq=1)
        record(recorder, 5_000)
        assert recorder.stats().events == 5_000
        assert stuck.dropped == 4_999
        assert lossless.dropped == 0
    assert seqs(lossless) == list(range(1, 5_001))


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]


def test_the_writer_steps_aside_once_for_a_subscriber_that_is_slow(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And again only when it has caught up meanwhile."""
    pauses: list[int] = []
    step_aside = fanout.FanOut.step_aside
    monkeypatch.setattr(fanout.FanOut, "step_aside", lambda self: (pauses.append(self.end), step_aside(self))[1])
    with Recorder(root, buffer=64) as recorder:
        subscription = recorder.subscribe()
        record(recorder, 1_000)
        assert len(pauses) == 1
        assert take(iter(subscription), 64) == list(range(1, 65))
        assert list(subscription._ready() or ()) == []
        record(recorder, 1_000)
        assert len(pauses) == 2
    assert recorder.stats().dropped == 2 * (1_000 - 64)


def test_the_writer_does_not_step_aside_for_a_task(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be one of the writer's own loop, and could not run however long the writer waits."""
    pauses: list[int] = []
    monkeypatch.setattr(fanout.FanOut, "step_aside", lambda self: pauses.append(self.end))

    async def listen() -> list[int]:
        with Recorder(root, buffer=64) as recorder:
            task = asyncio.create_task(consume(recorder.subscribe()))
            await asyncio.sleep(0)
            for _ in range(20):
                record(recorder, 50)
                await asyncio.sleep(0.002)
        return await task

    assert asyncio.run(listen()) == list(range(1, 1_001))
    assert pauses == []


def test_drops_are_warned_of_once_per_second_and_subscriber(
    root: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first drop is told at once, the next word comes after a second, and it names the counts since."""
    now = [100.0]
    monkeypatch.setattr(fanout.time, "monotonic", lambda: now[0])
    with Recorder(root, buffer=2) as recorder:
        first, second = recorder.subscribe(), recorder.subscribe()
        record(recorder, 12)
        assert len(warnings_of(caplog)) == 2
        assert "subscriber 1 of run " + recorder.run_id in warnings_of(caplog)[0]
        assert "1 events dropped for it (1 in all)" in warnings_of(caplog)[0]
        assert "subscriber 2" in warnings_of(caplog)[1]
        now[0] += 0.99
        record(recorder, 5)
        assert len(warnings_of(caplog)) == 2
        now[0] += 0.02
        record(recorder, 5)
        assert len(warnings_of(caplog)) == 4
        assert "15 events dropped for it (16 in all)" in warnings_of(caplog)[2]
        assert "the journal has them" in warnings_of(caplog)[2]
        assert (first.dropped, second.dropped) == (20, 20)


def test_a_log_handler_that_records_is_no_deadlock(root: Path) -> None:
    """Warnings are logged outside the lock: a handler may record into the very run that warns."""
    with Recorder(root, buffer=1) as recorder:

        class Recording(logging.Handler):
            def emit(self, entry: logging.LogRecord) -> None:
                recorder.record("system.event", {"subtype": "log", "text": entry.getMessage()})

        handler = Recording()
        logging.getLogger("stenograph.journal").addHandler(handler)
        try:
            subscription = recorder.subscribe()
            record(recorder, 2)
        finally:
            logging.getLogger("stenograph.journal").removeHandler(handler)
        assert subscription.dropped == 2
        assert recorder.stats().seq == 3


def test_live_events_are_the_stored_events(root: Path) -> None:
    """Equal values, not look-alikes."""
    with Recorder(root) as recorder:
        subscription = recorder.subscribe()
        returned = record(recorder, 5)
    assert list(subscription) == returned == list(read_events(recorder.path))


def test_closing_the_recorder_ends_its_subscribers_after_the_last_event(root: Path) -> None:
    """What was recorded before the close is still handed out; `close()` may be called twice on both."""
    recorder = Recorder(root)
    plain, replaying = recorder.subscribe(), recorder.subscribe(from_seq=2)
    record(recorder, 3)
    recorder.close()
    recorder.close()
    assert seqs(plain) == [1, 2, 3]
    assert seqs(replaying) == [2, 3]
    for each in (plain, replaying):
        each.close()
        each.close()
        assert list(each) == []


def test_subscribing_to_a_closed_recorder_ends_at_once(root: Path) -> None:
    """Plain: nothing comes any more. With `from_seq`: what is there, then the end."""
    with Recorder(root) as recorder:
        record(recorder, 3)
    assert list(recorder.subscribe()) == []
    assert seqs(recorder.subscribe(from_seq=2)) == [2, 3]
    recorder.path.unlink()
    with pytest.raises(RunNotFound):
        recorder.subscribe(from_seq=1)


@pytest.mark.parametrize("from_seq", [None, 1])
def test_a_closed_subscriber_ends_at_once(root: Path, from_seq: int | None) -> None:
    """Also in the middle of its events, and though more are waiting."""
    with Recorder(root) as recorder:
        subscription = recorder.subscribe(from_seq)
        record(recorder, 100)
        events = iter(subscription)
        assert take(events, 3) == [1, 2, 3]
        subscription.close()
        assert list(events) == []
        assert list(subscription) == []


def test_a_subscription_is_a_context_manager(root: Path) -> None:
    """Leaving it closes it."""
    with Recorder(root) as recorder:
        with recorder.subscribe() as subscription:
            record(recorder, 2)
        assert list(subscription) == []


@pytest.mark.parametrize("from_seq", [0, -1, "1", 1.5])
def test_a_bad_from_seq_is_refused(root: Path, from_seq: Any) -> None:
    """Numbers start at 1."""
    with Recorder(root) as recorder, pytest.raises(InvalidEvent, match="from_seq"):
        recorder.subscribe(from_seq)


@pytest.mark.parametrize("buffer", [1, 2, 256])
def test_from_seq_on_a_busy_recorder_delivers_every_event_exactly_once(root: Path, buffer: int) -> None:
    """Tiny buffer, slow consumer, four writers: on overflow it goes back to the file, and nothing drops or repeats."""
    with Recorder(root, buffer=buffer) as recorder:
        record(recorder, 50)
        listeners = [Listener(recorder.subscribe(from_seq=1), slow_every=37), Listener(recorder.subscribe(from_seq=30))]
        writers = [threading.Thread(target=record, args=(recorder, 500)) for _ in range(4)]
        for writer in writers:
            writer.start()
        late = Listener(recorder.subscribe(from_seq=1), slow_every=101)
        for writer in writers:
            writer.join()
        assert recorder.stats().dropped == 0
    everything = list(range(1, 2_051))
    assert listeners[0].result() == everything
    assert listeners[1].result() == everything[29:]
    assert late.result() == everything


def test_foreign_lines_in_the_file_neither_hide_nor_repeat_events(root: Path) -> None:
    """The lock is advisory: somebody appends to the journal, and offsets are no longer what the recorder thinks."""
    with Recorder(root, buffer=2) as recorder:
        subscription = recorder.subscribe(from_seq=1)
        events = iter(subscription)
        got = []
        for number in range(20):
            record(recorder, 5)
            with recorder.path.open("a") as file:
                file.write("a note of mine\n" * (number % 3))
            got += take(events, 5 if number % 2 else 1)
    assert got + seqs(events) == list(range(1, 101))


def test_a_journal_cut_behind_the_recorders_back_spins_nobody(root: Path) -> None:
    """What is gone is gone; the subscriber goes on with what comes."""
    with Recorder(root, buffer=2) as recorder:
        subscription = recorder.subscribe(from_seq=1)
        record(recorder, 50)
        with recorder.path.open("r+") as file:
            file.truncate(0)
        listener = Listener(subscription)
        wait_until_parked(subscription)
        record(recorder, 1)
    assert listener.result() == [51]


def test_what_is_recorded_between_the_last_read_and_going_live_is_not_lost(root: Path) -> None:
    """A subscriber that found nothing more in the file looks again, when the file has grown meanwhile."""
    recorder = Recorder(root)
    lock = recorder._lock

    class LateLock:
        """The recorder's lock, which the writer had first."""

        def __enter__(self) -> None:
            recorder._fan_out.lock = lock
            record(recorder, 2)
            recorder.close()
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()

    subscription = recorder.subscribe(from_seq=1)
    recorder._fan_out.lock = cast(Any, LateLock())
    assert seqs(subscription) == [1, 2]


def test_from_seq_beyond_the_end_waits_for_it(root: Path) -> None:
    """Events before that number are passed over, also live ones."""
    with Recorder(root) as recorder:
        record(recorder, 3)
        listener = Listener(recorder.subscribe(from_seq=7))
        wait_until_parked(listener._subscription)
        record(recorder, 5)
    assert listener.result() == [7, 8]


def test_a_parked_subscriber_is_woken(root: Path) -> None:
    """By an event, by its own close, and by the recorder's."""
    recorder = Recorder(root)
    listeners = [
        Listener(recorder.subscribe()),
        Listener(recorder.subscribe(from_seq=1)),
        Listener(recorder.subscribe()),
    ]
    wait_until_parked(*(each._subscription for each in listeners))
    record(recorder, 1)
    wait_until_parked(*(each._subscription for each in listeners))
    listeners[0]._subscription.close()
    assert listeners[0].result() == [1]
    record(recorder, 1)
    wait_until_parked(*(each._subscription for each in listeners[1:]))
    recorder.close()
    assert listeners[1].result() == [1, 2]
    assert listeners[2].result() == [1, 2]


@pytest.mark.parametrize("from_seq", [None, 1])
def test_a_loop_that_was_left_early_can_be_taken_up_again(root: Path, from_seq: int | None) -> None:
    """Breaking out of a loop loses nothing and repeats nothing, live or replayed."""
    with Recorder(root, buffer=100) as recorder:
        subscription = recorder.subscribe(from_seq)
        record(recorder, 60)
        got = []
        for _ in range(40):
            for event in subscription:
                got.append(event.seq)
                break
        record(recorder, 30)
    assert got + seqs(subscription) == list(range(1, 91))
    assert subscription.dropped == 0


def test_two_loops_share_the_events_of_one_subscription(root: Path) -> None:
    """Each event goes to one of them."""
    with Recorder(root, buffer=10_000) as recorder:
        subscription = recorder.subscribe()
        listeners = [Listener(subscription), Listener(subscription)]
        record(recorder, 3_000)
    assert sorted(listeners[0].result() + listeners[1].result()) == list(range(1, 3_001))


def test_a_forgotten_subscription_is_given_up(root: Path) -> None:
    """Dropped without a close, it takes no more events and closes its descriptor."""
    with Recorder(root) as recorder:
        kept = recorder.subscribe()
        gc.collect()  # what tests before this one left open
        descriptors = len(list(Path("/proc/self/fd").iterdir()))
        forgotten = [recorder.subscribe(from_seq=1) for _ in range(5)]
        assert len(list(Path("/proc/self/fd").iterdir())) == descriptors + 5
        del forgotten
        gc.collect()
        assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
        record(recorder, 1)
        record(recorder, 1)
        assert [each.number for each in recorder.stats().subscribers] == [1]
        assert len(recorder._fan_out._boxes) == 1
    assert seqs(kept) == [1, 2]


async def consume(subscription: Subscription, *, slow_every: int = 0) -> list[int]:
    got = []
    async for event in subscription:
        got.append(event.seq)
        if slow_every and event.seq % slow_every == 0:
            await asyncio.sleep(0.002)
    return got


def test_async_for_delivers_every_event_exactly_once(root: Path) -> None:
    """Two tasks, one of them slow with a tiny buffer, while threads record."""

    async def main() -> list[list[int]]:
        with Recorder(root, buffer=2) as recorder:
            tasks = [
                asyncio.create_task(consume(recorder.subscribe(from_seq=1), slow_every=50)),
                asyncio.create_task(consume(recorder.subscribe(from_seq=11))),
            ]
            await asyncio.gather(*(asyncio.to_thread(record, recorder, 400) for _ in range(3)))
        async with asyncio.timeout(PATIENCE):
            return await asyncio.gather(*tasks)

    first, second = asyncio.run(main())
    assert first == list(range(1, 1_201))
    assert second == list(range(11, 1_201))


def test_a_parked_async_subscriber_is_woken(root: Path) -> None:
    """From the loop itself and from a thread; the loop is free meanwhile."""

    async def main() -> list[int]:
        recorder = Recorder(root)
        subscription = recorder.subscribe()
        task = asyncio.create_task(consume(subscription))
        async with asyncio.timeout(PATIENCE):
            while not subscription._box.wakes:
                await asyncio.sleep(0.001)
            recorder.record("system.event", NOTE)
            while not subscription._box.wakes:
                await asyncio.sleep(0.001)
            await asyncio.to_thread(record, recorder, 2)
            while not subscription._box.wakes:
                await asyncio.sleep(0.001)
            recorder.close()
            return await task

    assert asyncio.run(main()) == [1, 2, 3]


def test_a_cancelled_async_subscriber_can_go_on(root: Path) -> None:
    """A timeout around `async for` loses nothing."""

    async def main() -> list[int]:
        got = []
        with Recorder(root) as recorder:
            subscription = recorder.subscribe()
            task = asyncio.create_task(consume(subscription))
            while not subscription._box.wakes:
                await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            record(recorder, 40)
            async for event in subscription:
                got.append(event.seq)
                if event.seq == 3:
                    break
        async with asyncio.timeout(PATIENCE):
            return got + await consume(subscription)

    assert asyncio.run(main()) == list(range(1, 41))


def test_a_loop_that_is_gone_does_not_hurt_the_writer(root: Path) -> None:
    """The event loop of a parked subscriber was closed; recording and closing go on."""
    recorder = Recorder(root)
    subscription = recorder.subscribe()

    async def park() -> None:
        task = asyncio.create_task(consume(subscription))
        while not subscription._box.wakes:
            await asyncio.sleep(0.001)
        ring = subscription._box.wakes[0]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        subscription._box.wakes.append(ring)  # as if the loop had been closed without a word

    asyncio.run(park())
    record(recorder, 1)
    recorder.close()
    assert seqs(subscription) == [1]


def kept_events() -> int:
    gc.collect()
    return sum(isinstance(each, Event) for each in gc.get_objects())


@pytest.mark.parametrize("how", ["keeps up", "never reads", "closed", "left"])
def test_events_that_nobody_waits_for_are_let_go(root: Path, how: str) -> None:
    """Whatever a subscriber does, the recorder keeps no more of large events than its buffer."""
    before = kept_events()
    with Recorder(root, buffer=8) as recorder:
        subscription = recorder.subscribe()
        events = iter(subscription)
        for number in range(200):
            recorder.record("system.event", {"subtype": "note", "text": "x" * 200_000})
            if how == "keeps up" or number == 0:
                next(events)
            if number == 0 and how == "closed":
                subscription.close()
            if number == 0 and how == "left":
                del subscription, events
        assert kept_events() - before <= 8 + 2
