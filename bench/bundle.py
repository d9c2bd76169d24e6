"""Bundles: packing a long run, and asking the bundle."""

from __future__ import annotations

import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import Row
from stenograph import start_run

EVENTS = 100_000
PER_TURN = 5
"""A prompt, an answer with thinking, a tool's call and result, and tokens."""
ROUNDS = 3
QUERY = "SELECT tool_name, count(*), count(error), avg(duration_ms) FROM tool_calls GROUP BY tool_name"


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    journal = _journal(folder / "bundled")
    size = f"{EVENTS:,} events, {journal.stat().st_size / 1e6:.0f} MB"
    bundle = folder / "bundle.zip"
    packed = _median(lambda: _steno("bundle", "create", journal, "-o", bundle))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    kept = bundle.with_name(f"{bundle.name}.sqlite")

    def first() -> None:
        kept.unlink(missing_ok=True)
        _steno("query", bundle, QUERY)

    asked, again = _median(first), _median(lambda: _steno("query", bundle, QUERY))
    return [
        Row(f"steno bundle create of {size}", "≤ 5 s", f"{packed:.1f} s, {peak:.0f} MB RSS", "", packed <= 5),
        Row("steno query on it, first", "≤ 3 s", f"{asked:.1f} s", "", asked <= 3),
        Row("steno query on it, again", "≤ 0.3 s", f"{again:.2f} s", "", again <= 0.3),
    ]


def _journal(root: Path) -> Path:
    """A run of prompts, answers and tools whose texts are made of chance, as real ones hardly compress better."""
    chance = random.Random(7)
    words = [f"{chance.choice('bcdfgklmnprst')}{chance.choice('aeiou')}{number:x}" for number in range(5000)]

    def text(count: int) -> str:
        return " ".join(chance.choices(words, k=count))

    with start_run("bench", root=root) as run:
        for number in range(EVENTS // PER_TURN):
            message = f"m-{number}"
            run.user(text(30))
            blocks = [{"type": "thinking", "thinking": text(40)}, {"type": "text", "text": text(30)}]
            run.assistant(blocks, message_id=message, model="some-model")
            with run.tool("Bash", {"command": text(8)}) as call:
                call.output = text(120)
            run.usage(1000 + number, 50, message_id=message, model="some-model")
    return run.path


def _steno(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "stenograph", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def _median(job: Callable[[], None]) -> float:
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        job()
        took.append(time.perf_counter() - began)
    return statistics.median(took)
