"""Forked children: the journal stays the parent's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FORK = """
    import os, sys, threading
    from stenograph import Recorder, StoreLocked, read_events
    from stenograph.errors import StoreClosed

    recorder = Recorder(sys.argv[1], durability=sys.argv[2])
    live = recorder.subscribe()
    replay = recorder.subscribe(from_seq=1)
    recorder.record("system.event", {"subtype": "before"})
    child = os.fork()
    if child == 0:
        code = 1
        try:
            recorder.record("system.event", {"subtype": "child"})
        except StoreClosed as error:
            assert "belongs to the parent process" in str(error), error
            recorder.close()
            recorder.close()
            assert [event.seq for event in live] == [1]
            assert [event.seq for event in replay] == [1]
            del live, replay
            try:
                Recorder(sys.argv[1], run_id=recorder.run_id)
            except StoreLocked as locked:
                assert locked.pid == os.getppid(), locked.pid
                with Recorder(sys.argv[1]) as own:
                    own.record("system.event", {"subtype": "own"})
                code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    recorder.record("system.event", {"subtype": "after"})
    recorder.close()
    assert [event.payload.subtype for event in read_events(recorder.path)] == ["before", "after"]
    assert [event.seq for event in live] == [1, 2]
    assert [event.seq for event in replay] == [1, 2]
    Recorder(sys.argv[1], run_id=recorder.run_id).close()
"""


def test_a_forked_child_cannot_use_the_parents_recorder(root: Path, python: Any) -> None:
    """In the child it raises and ends its subscriptions; the parent's lock, journal and subscribers are untouched."""
    for durability in ("os", "disk"):
        python(FORK, root, durability)


BUSY = """
    import os, sys, threading
    from stenograph import Recorder, read_events
    from stenograph.errors import StoreClosed

    recorder = Recorder(sys.argv[1])
    stop = threading.Event()

    def write():
        while not stop.is_set():
            recorder.record("system.event", {"subtype": "x", "text": "y" * 500})

    writers = [threading.Thread(target=write) for _ in range(4)]
    parked = recorder.subscribe()
    for thread in writers:
        thread.start()
    for _ in range(50):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                recorder.record("system.event", {"subtype": "child"})
            except StoreClosed:
                recorder.stats()
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
    stop.set()
    for thread in writers:
        thread.join()
    recorder.close()
    seqs = [event.seq for event in read_events(recorder.path)]
    assert seqs == list(range(1, len(seqs) + 1))
    assert b"child" not in recorder.path.read_bytes()
"""


def test_a_fork_while_other_threads_record_hangs_nobody(root: Path, python: Any) -> None:
    """The child's locks are new: one that a thread held at the moment of the fork would never be free again."""
    python(BUSY, root)


ORPHAN = """
    import os, signal, sys, time
    from stenograph import Recorder

    root, run_id = sys.argv[1:]
    reading, writing = os.pipe()
    holder = os.fork()
    if holder == 0:
        recorder = Recorder(root, run_id=run_id)
        replay = recorder.subscribe(from_seq=1)
        recorder.record("system.event", {"subtype": "x"})
        if os.fork() == 0:  # what a fork does in a child is done once it goes on here
            os.write(writing, str(os.getpid()).encode())
        time.sleep(60)
        os._exit(1)
    worker = int(os.read(reading, 20))
    try:
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)
        with Recorder(root, run_id=run_id) as recorder:
            assert recorder.record("system.event", {"subtype": "y"}).seq == 2
        os.kill(worker, 0)
    finally:
        os.kill(worker, signal.SIGKILL)
"""


def test_a_killed_writers_forked_worker_does_not_keep_the_lock(root: Path, python: Any) -> None:
    """The worker outlives its parent, but holds nothing of the journal."""
    python(ORPHAN, root, "550e8400-e29b-41d4-a716-446655440000")
