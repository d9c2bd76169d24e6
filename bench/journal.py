"""The journal: recording, syncing, reading, opening, memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from uuid import uuid4

from bench.measure import Row, in_child, median_pairs, stopwatch
from stenograph import Recorder, read_events
from stenograph.model import encode

PAYLOAD = {
    "role": "assistant",
    "blocks": [{"type": "text", "fidelity": "agent_emitted", "text": "The quick brown fox, again and again. " * 48}],
}
EVENTS = 30_000
SYNCED = 400


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    return [
        _recording(folder),
        _recording_to_disk(folder),
        _memory(folder),
        _reading(folder),
        _opening(folder),
        _start_up(),
    ]


def _line(folder: Path) -> bytes:
    with Recorder(folder) as recorder:
        line = encode(recorder.record("message.assistant", PAYLOAD, path="a.b")) + b"\n"
    recorder.path.unlink()
    return line


def _bare(folder: Path, line: bytes, events: int, *, sync: bool = False) -> float:
    path = folder / "bare"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC)
    try:
        with stopwatch() as took:
            for _ in range(events):
                os.write(fd, line)
                if sync:
                    os.fdatasync(fd)
    finally:
        os.close(fd)
        path.unlink()
    return events / took[0]


def _recorded(folder: Path, events: int, *, subscribers: int, durability: str = "os") -> tuple[float, int]:
    """Events a second with that many threads draining, and how many were dropped for them."""
    recorder = Recorder(folder, durability=durability)  # type: ignore[arg-type]
    threads = [threading.Thread(target=_drain, args=(recorder.subscribe(),)) for _ in range(subscribers)]
    for thread in threads:
        thread.start()
    record = recorder.record
    with stopwatch() as took:
        for _ in range(events):
            record("message.assistant", PAYLOAD, path="a.b")
    dropped = recorder.stats().dropped
    recorder.close()
    for thread in threads:
        thread.join()
    recorder.path.unlink()
    return events / took[0], dropped


def _drain(events: object) -> None:
    for _ in events:  # type: ignore[attr-defined]
        pass


def _recording(folder: Path) -> Row:
    line = _line(folder)
    drops = []

    def ours() -> float:
        rate, dropped = _recorded(folder, EVENTS, subscribers=4)
        drops.append(dropped)
        return rate

    rate, bare, ratio = median_pairs(ours, lambda: _bare(folder, line, EVENTS))
    alone = statistics.median(_recorded(folder, EVENTS, subscribers=0)[0] for _ in range(5))
    return Row(
        f"record a {len(line) / 1000:.1f} KB event, 4 draining subscribers",
        "≥ 45 % of bare `os.write`",
        f"{rate:,.0f} events/s, {ratio:.0%} (dropped {sum(drops)} of {EVENTS * len(drops) * 4:,}; "
        f"with no subscriber {alone:,.0f} events/s, {alone / bare:.0%})",
        f"{bare:,.0f} writes/s",
        ratio >= 0.45,
    )


def _recording_to_disk(folder: Path) -> Row:
    line = _line(folder)
    rate, bare, ratio = median_pairs(
        lambda: _recorded(folder, SYNCED, subscribers=4, durability="disk")[0],
        lambda: _bare(folder, line, SYNCED, sync=True),
    )
    return Row(
        'the same with durability="disk"',
        "≥ 60 % of bare write + fdatasync",
        f"{rate:,.0f} events/s, {ratio:.0%}",
        f"{bare:,.0f} writes/s",
        ratio >= 0.60,
    )


def _memory(folder: Path) -> Row:
    code = """
import sys, threading
from stenograph import Recorder
def rss():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
payload = {"role": "assistant", "blocks": [{"type": "text", "fidelity": "router", "text": "x" * 200}]}
recorder = Recorder(sys.argv[1])
def drain(events):
    for _ in events: pass
threads = [threading.Thread(target=drain, args=(recorder.subscribe(),)) for _ in range(4)]
for thread in threads: thread.start()
for _ in range(20_000): recorder.record("message.assistant", payload)
before = rss()
for _ in range(1_000_000): recorder.record("message.assistant", payload)
print(rss() - before)
recorder.close()
recorder.path.unlink()
"""
    grown = int(in_child(code, str(folder))) / 1e6
    return Row("memory over 1,000,000 events, 4 subscribers", "≤ 10 MB growth", f"{grown:.1f} MB", "", grown <= 10)


def _reading(folder: Path) -> Row:
    with Recorder(folder) as recorder:
        for _ in range(50_000):
            recorder.record("message.assistant", PAYLOAD, path="a.b")
    size = recorder.path.stat().st_size

    def ours() -> float:
        with stopwatch() as took:
            count = sum(1 for _ in read_events(recorder.path))
        assert count == 50_000
        return size / took[0] / 1e6

    def limit() -> float:
        import json

        with stopwatch() as took, recorder.path.open("rb") as file:
            for line in file:
                json.loads(line)
        return size / took[0] / 1e6

    rate, plain, ratio = median_pairs(ours, limit, pairs=5)
    recorder.path.unlink()
    return Row(
        f"read_events of {size / 1e6:.0f} MB to typed events",
        "≥ 300 MB/s",
        f"{rate:,.0f} MB/s, {ratio:.1f} x a `json.loads` loop",
        f"json.loads {plain:,.0f} MB/s",
        rate >= 300,
    )


def _opening(folder: Path) -> Row:
    line = _line(folder)
    run_id = str(uuid4())
    path = folder / "transcripts" / f"{run_id}.jsonl"
    block = line * (1 + (1 << 20) // len(line))
    with path.open("wb") as file:
        while file.tell() < 1 << 30:
            file.write(block)
    times = []
    for _ in range(7):
        began = time.perf_counter()
        recorder = Recorder(folder, run_id=run_id)
        times.append((time.perf_counter() - began) * 1000)
        recorder.close()
    path.unlink()
    took = statistics.median(times)
    return Row("open a journal of 1 GB for append", "≤ 50 ms", f"{took:.1f} ms", "", took <= 50)


def _start_up() -> Row:
    def milliseconds(*command: str) -> float:
        with stopwatch() as took:
            subprocess.run(command, check=True, capture_output=True)
        return took[0] * 1000

    steno = [milliseconds(sys.executable, "-m", "stenograph", "--version") for _ in range(15)]
    bare = [milliseconds(sys.executable, "-c", "pass") for _ in range(15)]
    took = statistics.median(steno)
    return Row(
        "`steno --version`",
        "≤ 100 ms",
        f"{took:.0f} ms",
        f"bare python {statistics.median(bare):.0f} ms",
        took <= 100,
    )
