"""Formats: agents' bytes to canonical events."""

from __future__ import annotations

import json
import time
from pathlib import Path

from bench import opencode
from bench.lengthening import lengthened
from bench.measure import Row, in_child, median_pairs, stopwatch
from stenograph.formats.base import Context, FormatSpec
from stenograph.formats.registry import formats

GOLDEN = Path(__file__).parent.parent / "tests" / "golden"
SIZE = 40_000_000
RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
NEWLINE = b"\n"
GOALS = [
    ("claude_code", False, 100),
    ("claude_code", True, 70),
    ("codex_rollout", False, 80),
    ("copilot_cli", False, 60),
    ("gemini_cli", False, 60),
    ("qwen_code", False, 40),
    ("pi", False, 40),
    ("kimi_code", False, 40),
    ("kimi_cli", False, 40),
    ("gptme", False, 40),
]


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    parsing = [_parsing(formats()[name], keep_raw, goal) for name, keep_raw, goal in GOALS]
    return [*parsing, *opencode.rows(folder), _memory(folder)]


def _corpus(name: str) -> bytes:
    """The golden inputs of a format with their texts at the length of real ones, over and over with new ids."""
    files = sorted(path for path in (GOLDEN / name).rglob("*.jsonl") if path.name != "expected.jsonl")
    lines = [line for path in files for line in path.read_bytes().split(b"\n") if line]
    once = b"\n".join(_lengthened(line) for line in lines) + b"\n"
    return b"".join(once.replace(b'"uuid":"', b'"uuid":"%d-' % turn) for turn in range(1 + SIZE // len(once)))


def _lengthened(line: bytes) -> bytes:
    """A line with its texts at the length of real ones."""
    try:
        return json.dumps(lengthened(json.loads(line)), ensure_ascii=False, separators=(",", ":")).encode()
    except ValueError:
        return line  # lone surrogates and broken lines stay as they are


def _parsing(spec: FormatSpec, keep_raw: bool, goal: int) -> Row:
    data = _corpus(spec.name)
    chunks = [data[start : start + (1 << 20)] for start in range(0, len(data), 1 << 20)]

    def ours() -> float:
        parser = spec.open(Context(run_id=RUN_ID, keep_raw=keep_raw))
        began = time.process_time()
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
        return len(data) / (time.process_time() - began) / 1e6

    def plain() -> float:
        began = time.process_time()
        for line in data.split(b"\n"):
            if line:
                json.loads(line)
        return len(data) / (time.process_time() - began) / 1e6

    rate, limit, ratio = median_pairs(ours, plain, pairs=5)
    size = f"{len(data) / 1e6:.0f} MB, {len(data) / data.count(NEWLINE) / 1000:.1f} KB a line"
    return Row(
        f"{spec.name} to events, {'with' if keep_raw else 'without'} raw ({size})",
        f"≥ {goal} MB/s",
        f"{rate:.0f} MB/s by processor time, {ratio:.2f} x a `json.loads` loop",
        f"json.loads {limit:.0f} MB/s",
        rate >= goal,
    )


def _memory(folder: Path) -> Row:
    path = folder / "big.jsonl"
    block = _corpus("claude_code")
    with path.open("wb") as file:
        while file.tell() < 1 << 30:
            file.write(block)
    # Not ru_maxrss: a child inherits that from the process it was forked from.
    code = """
import sys
from pathlib import Path
from stenograph.cli.program import cli
sys.stdout = open("/dev/null", "w")
try:
    cli.main(["convert", "--from", "claude_code", sys.argv[1]], standalone_mode=False)
finally:
    peak = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    sys.__stdout__.write(peak[0].split()[1])
"""
    with stopwatch() as took:
        peak = int(in_child(code, str(path))) / 1000
    path.unlink()
    return Row(
        "`steno convert` of a 1 GB Claude session", "≤ 150 MB RSS", f"{peak:.0f} MB, {took[0]:.0f} s", "", peak <= 150
    )
