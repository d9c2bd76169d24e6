"""Facts: a large session explained, and compared with another one."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from bench.html import SESSION, _write_session
from bench.measure import Row
from stenograph import open_run
from stenograph.fold.compare import compare
from stenograph.fold.explain import Explained, explained
from stenograph.query.prices import load_prices
from stenograph.render.comparison import comparison_lines
from stenograph.render.explanation import explanation_lines

GOAL = 20
"""MB of the agent's file a second of processor time, reading included."""
ROUNDS = 3


def rows(folder: Path) -> list[Row]:
    """Every measurement of this part."""
    session = folder / f"{SESSION}.jsonl"
    _write_session(session)
    other = folder / f"{SESSION[:-1]}1.jsonl"
    lines = session.read_bytes().splitlines(keepends=True)
    other.write_bytes(b"".join(line for number, line in enumerate(lines) if number % 50))
    size = session.stat().st_size / 1e6
    both = size + other.stat().st_size / 1e6

    def explain() -> None:
        assert list(explanation_lines(_read(session).explanation))

    def diff() -> None:
        assert list(comparison_lines(compare(_read(session), _read(other))))

    made = [
        _row(f"steno explain of a Claude session of {size:.0f} MB, reading included", size, explain),
        _row(f"steno diff of two Claude sessions of {size:.0f} MB, reading included", both, diff),
    ]
    session.unlink()
    other.unlink()
    return made


def _read(path: Path) -> Explained:
    with open_run(path) as run:
        return explained(run.events(keep_raw=False), load_prices())


def _row(job: str, size: float, work: Callable[[], None]) -> Row:
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    speed = size / statistics.median(taken)
    return Row(job, f"≥ {GOAL} MB/s of processor time", f"{speed:.0f} MB/s", "", speed >= GOAL)
