"""The collector: from a line in a file to its entry in the log."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench.formats import _corpus
from bench.measure import Row, stopwatch
from stenograph import Recorder
from stenograph.adapters.claude_agent_sdk.collector import TranscriptCollector
from stenograph.formats.base import Context, Format
from stenograph.formats.registry import formats
from stenograph.sources.tail import FileTail

BACKLOG = 200_000_000
WRITER = """
import json, random, sys, time
paths, count, pause = sys.argv[3:], int(sys.argv[1]), float(sys.argv[2])
begun = time.monotonic()
for number in range(count):
    path = random.choice(paths)
    with open(path, "ab", 0) as file:
        said = {"role": "user", "content": "x" * 500}
        line = {"type": "user", "number": number, "at": time.perf_counter_ns(), "message": said}
        file.write(json.dumps(line).encode() + b"\\n")
    time.sleep(max(0.0, begun + (number + 1) * pause - time.monotonic()))
"""


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    return [
        _latency(folder, 1),
        _latency(folder, 500),
        _rate(folder),
        *_backlog(folder),
        _idle(folder, 1),
        _idle(folder, 500),
    ]


class _Arrivals(logging.Handler):
    """The numbers of the lines in the order of their log records, and how long each took to get there."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.numbers: list[int] = []
        self.milliseconds: list[float] = []

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "event", "") == "transcript.entry":
            line: dict[str, Any] = record.context["detail"]["sdk_entry"]  # type: ignore[attr-defined]
            if "at" in line:
                self.numbers.append(line["number"])
                self.milliseconds.append((time.perf_counter_ns() - line["at"]) / 1e6)


def _logger(*handlers: logging.Handler) -> logging.Logger:
    logger = logging.Logger("bench", logging.DEBUG if handlers else logging.INFO)
    for handler in handlers:
        logger.addHandler(handler)
    return logger


def _session(folder: Path, files: int) -> list[Path]:
    """A session with so many files, each with a first line."""
    main = folder / f"project-{uuid4()}" / f"{uuid4()}.jsonl"
    agents = main.with_suffix("") / "subagents"
    agents.mkdir(parents=True)
    paths = [main, *(agents / f"agent-a{number}.jsonl" for number in range(files - 1))]
    for path in paths:
        path.write_text('{"type":"user","message":{"role":"user","content":"go"}}\n')
    return paths


def _collect(collector: TranscriptCollector, main: Path, body: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        async with collector.run():
            await collector.hook_callback({"transcript_path": str(main)}, None, None)
            await body()

    asyncio.run(run())


def _written(folder: Path, files: int, lines: int, pause: float) -> _Arrivals:
    """What arrived of the lines that another process appended to any of the files."""
    paths = _session(folder, files)
    arrivals = _Arrivals()
    collector = TranscriptCollector(prompt_name="bench", logger=_logger(arrivals))

    async def body() -> None:
        while collector.total_entries < files:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(lines), str(pause), *map(str, paths)])
        while writer.poll() is None:
            await asyncio.sleep(0.05)

    _collect(collector, paths[0], body)
    return arrivals


def _latency(folder: Path, files: int) -> Row:
    times = sorted(_written(folder, files, 1000, 0.005).milliseconds)
    middle, late = times[len(times) // 2], times[len(times) * 99 // 100]
    return Row(
        f"append a line → its entry in the log, {files} file{'s' * (files > 1)}",
        "p50 ≤ 10 ms, p99 ≤ 25 ms",
        f"p50 {middle:.1f} ms, p99 {late:.1f} ms",
        "polling every 250 ms: p50 125 ms",
        middle <= 10 and late <= 25 and len(times) == 1000,
    )


def _rate(folder: Path) -> Row:
    arrivals = _written(folder, 1, 10_000, 1 / 2000)
    lost = 10_000 - len(set(arrivals.numbers))
    is_whole = arrivals.numbers == list(range(10_000))
    return Row("10,000 lines at 2,000 lines/s", "none lost", f"{lost} lost, in order: {is_whole}", "", is_whole)


def _backlog(folder: Path) -> list[Row]:
    path = _session(folder, 1)[0]
    block = _corpus("claude_code")
    with path.open("wb") as file:
        while file.tell() < BACKLOG:
            file.write(block)
    size = path.stat().st_size

    def opened() -> Format:
        return formats()["claude_code"].open(Context(run_id=str(uuid4())))

    with stopwatch() as alone:
        for _ in FileTail(path, opened).read():
            pass
    collected = _collected(path, None)
    with Recorder(folder) as recorder:
        recorded = _collected(path, recorder)
    recorder.path.unlink()
    path.unlink()
    job = f"a backlog of {size / 1e6:.0f} MB"
    limit = f"the tail alone {size / alone[0] / 1e6:.0f} MB/s"
    return [
        _at_least_50(f"{job}, collected into the log", size / collected / 1e6, limit),
        _at_least_50(f"{job}, collected into a journal", size / recorded / 1e6, limit),
    ]


def _at_least_50(job: str, rate: float, limit: str) -> Row:
    return Row(job, "≥ 50 MB/s", f"{rate:.0f} MB/s", limit, rate >= 50)


def _collected(path: Path, recorder: Recorder | None) -> float:
    """Seconds until all of a file was taken down, with DEBUG logs off as a host has them."""
    collector = TranscriptCollector(prompt_name="bench", recorder=recorder, logger=_logger())

    async def body() -> None:
        return

    with stopwatch() as took:
        _collect(collector, path, body)
    return took[0] - collector.config.quiet_period


def _idle(folder: Path, files: int) -> Row:
    paths = _session(folder, files)
    collector = TranscriptCollector(prompt_name="bench", logger=_logger())
    used: list[float] = []

    async def body() -> None:
        while collector.total_entries < files:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
        before = time.process_time()
        await asyncio.sleep(6)  # longer than the safety net
        used.append((time.process_time() - before) / 6)

    _collect(collector, paths[0], body)
    return Row(f"idle, {files} file{'s' * (files > 1)}", "≤ 1 % of a core", f"{used[0]:.2%}", "", used[0] <= 0.01)
