"""Bundles: packing a long run, and asking the bundle."""

from __future__ import annotations

import random
from pathlib import Path

from bench.measure import Row, Spent, median_spent, spent_by
from bench.tree import Text, real_lines
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
    kept = bundle.with_name(f"{bundle.name}.sqlite")

    def ask() -> Spent:
        return spent_by("-m", "stenograph", "query", bundle, QUERY)

    def ask_first() -> Spent:
        kept.unlink(missing_ok=True)
        return ask()

    def pack(*options: str) -> Spent:
        command = ("-m", "stenograph", "bundle", "create", journal, "-o", bundle, *options)
        return median_spent(lambda: spent_by(*command), ROUNDS)

    whole, packed = pack("--page"), pack("--no-page")
    asked, again = median_spent(ask_first, ROUNDS), median_spent(ask, ROUNDS)
    return [
        Row(f"steno bundle create of {size}, with its page", "≤ 5 s", _told(whole), "", whole.seconds <= 5),
        Row(
            "the same without the page, as is usual for so long a run", "≤ 5 s", _told(packed), "", packed.seconds <= 5
        ),
        Row("steno query on it, first", "≤ 3 s", _told(asked), "", asked.seconds <= 3),
        Row("steno query on it, again", "≤ 0.3 s", _told(again), "", again.seconds <= 0.3),
    ]


def _told(took: Spent) -> str:
    return f"{took.seconds:.2f} s ({took.processor:.2f} s of processor), {took.peak:.0f} MB"


def _journal(root: Path) -> Path:
    """A run of prompts, answers and tools whose texts are real ones."""
    said = Text(random.Random(7), real_lines())

    def text(words: int) -> str:
        return said(words * 7)

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
