"""kill -9 at random moments: what `record()` had returned for is there, and recording goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

# One interpreter forks every writer, so that two hundred deaths take seconds. A writer tells each number on a pipe
# right after `record` returned it, and is killed at a moment left to chance.
KILLER = """
    import json, os, random, signal, struct, sys, time, uuid
    from stenograph import Recorder, read_events, verify_journal

    root, durability, kills, per_run = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    chance = random.Random(durability)

    def text_of(seq):
        size = 1_500_000 if seq % 13 == 0 else 20_000 if seq % 5 == 0 else seq % 300
        return f"{seq}:" + "ü" * (size // 2)

    def write(run_id, pipe):
        recorder = Recorder(root, run_id=run_id, durability=durability)
        seq = recorder.stats().seq
        while True:
            seq += 1
            event = recorder.record("system.event", {"subtype": "n", "text": text_of(seq)})
            os.write(pipe, struct.pack("I", event.seq))

    def kill_one(run_id):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                write(run_id, writing)
            finally:
                os._exit(1)
        os.close(writing)
        told = b""
        if chance.random() < 0.2:
            time.sleep(chance.random() * 0.002)  # while it opens
        else:
            told = os.read(reading, 4)
            time.sleep(chance.random() * 0.01)  # while it writes
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, "the writer died of something else"
        while piece := os.read(reading, 1 << 16):
            told += piece
        os.close(reading)
        return struct.unpack(f"{len(told) // 4}I", told[: len(told) // 4 * 4])

    result = {"kills": 0, "acknowledged": 0, "stored": 0, "torn": 0}
    for number in range(kills // per_run):
        run_id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        path = os.path.join(root, "transcripts", run_id + ".jsonl")
        known = 0
        for _ in range(per_run):
            acknowledged = kill_one(run_id)
            result["kills"] += 1
            if not os.path.exists(path):
                assert not acknowledged
                continue
            reader = read_events(path)
            seqs = []
            for event in reader:
                seqs.append(event.seq)
                assert event.payload.text == text_of(event.seq), event.seq
            assert seqs == list(range(1, len(seqs) + 1)), seqs[-5:]
            assert len(seqs) >= max(acknowledged, default=known), (len(seqs), acknowledged[-1])
            assert reader.malformed == 0
            result["torn"] += reader.torn_bytes > 0
            result["acknowledged"] += len(acknowledged)
            known = len(seqs)
        with Recorder(root, run_id=run_id, durability=durability) as recorder:  # the lock died with its holder
            assert recorder.record("system.event", {"subtype": "n", "text": text_of(known + 1)}).seq == known + 1
        assert verify_journal(path).ok, verify_journal(path).findings
        result["stored"] += known + 1
        os.unlink(path)
    print(json.dumps(result))
"""


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("durability", "kills"), [("os", 140), ("disk", 100)])
def test_kill_9_loses_nothing_acknowledged(root: Path, python: Any, durability: str, kills: int) -> None:
    """Each death: all that was told is readable, the tail is repaired, the numbers go on; 240 times in all."""
    result = json.loads(python(KILLER, root, durability, kills, 10, timeout=540).stdout)
    assert result["kills"] == kills
    assert result["acknowledged"] > kills / 2
    assert result["stored"] >= result["acknowledged"]


def test_the_lock_of_a_killed_writer_is_free_at_once(root: Path, python: Any) -> None:
    """No stale lock file, no waiting: a crash leaves the run ready to go on."""
    script = """
        import os, signal, sys
        from stenograph import Recorder, StoreLocked

        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            recorder = Recorder(sys.argv[1], run_id=sys.argv[2])
            recorder.record("system.event", {"subtype": "x"})
            os.write(writing, b"x")
            signal.pause()
        os.read(reading, 1)
        try:
            Recorder(sys.argv[1], run_id=sys.argv[2])
        except StoreLocked as locked:
            assert locked.pid == child, (locked.pid, child)
        else:
            raise AssertionError("not locked")
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert Recorder(sys.argv[1], run_id=sys.argv[2]).record("system.event", {"subtype": "y"}).seq == 2
    """
    python(script, root, "550e8400-e29b-41d4-a716-446655440000")
