"""Formats: agents' bytes to canonical events."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from bench.measure import Row, median_pairs, stopwatch
from stenograph.formats.base import Context, FormatSpec
from stenograph.formats.registry import formats

GOLDEN = Path(__file__).parent.parent / "tests" / "golden"
SIZE = 40_000_000
RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
GOALS = [("claude_code", False, 100), ("claude_code", True, 70), ("codex_rollout", False, 80)]


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    return [_parsing(formats()[name], keep_raw, goal) for name, keep_raw, goal in GOALS] + [_memory(folder)]


def _corpus(name: str) -> bytes:
    """The golden inputs of a format, over and over."""
    files = sorted(path for path in (GOLDEN / name).rglob("*.jsonl") if path.name != "expected.jsonl")
    once = b"".join(path.read_bytes() for path in files)
    return once * (1 + SIZE // len(once))


def _parsing(spec: FormatSpec, keep_raw: bool, goal: int) -> Row:
    data = _corpus(spec.name)
    chunks = [data[start : start + (1 << 20)] for start in range(0, len(data), 1 << 20)]

    def ours() -> float:
        parser = spec.open(Context(run_id=RUN_ID, keep_raw=keep_raw))
        with stopwatch() as took:
            for chunk in chunks:
                parser.feed(chunk)
            parser.finish()
        return len(data) / took[0] / 1e6

    def plain() -> float:
        with stopwatch() as took:
            for line in data.split(b"\n"):
                if line:
                    json.loads(line)
        return len(data) / took[0] / 1e6

    rate, limit, ratio = median_pairs(ours, plain, pairs=5)
    return Row(
        f"{spec.name} to events, {'with' if keep_raw else 'without'} raw ({len(data) / 1e6:.0f} MB of golden cases)",
        f"≥ {goal} MB/s",
        f"{rate:.0f} MB/s, {ratio:.2f} x a `json.loads` loop",
        f"json.loads {limit:.0f} MB/s",
        rate >= goal,
    )


def _memory(folder: Path) -> Row:
    path = folder / "big.jsonl"
    block = _corpus("claude_code")
    with path.open("wb") as file:
        while file.tell() < 1 << 30:
            file.write(block)
    command = [sys.executable, "-m", "stenograph", "convert", "--from", "claude_code", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    with stopwatch() as took:
        _, status, usage = os.wait4(process.pid, 0)
    path.unlink()
    assert status == 0
    peak = usage.ru_maxrss / 1000
    return Row(
        "`steno convert` of a 1 GB Claude session", "≤ 150 MB RSS", f"{peak:.0f} MB, {took[0]:.0f} s", "", peak <= 150
    )
