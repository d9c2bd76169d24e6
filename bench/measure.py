"""Measuring: pairs in one run, medians, and what the machine is."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    job: str
    goal: str
    ours: str
    limit: str
    met: bool


def median_pairs(ours: Callable[[], float], limit: Callable[[], float], pairs: int = 7) -> tuple[float, float, float]:
    """The medians of both rates and of their ratio, measured in turns so that noise hits both."""
    ours()  # a first round for caches, not counted
    measured = [(limit(), ours()) for _ in range(pairs)]
    ratios = [mine / bare for bare, mine in measured]
    return (
        statistics.median(mine for _, mine in measured),
        statistics.median(bare for bare, _ in measured),
        statistics.median(ratios),
    )


@contextmanager
def stopwatch() -> Iterator[list[float]]:
    """The seconds that the body took, as the only element of the list once it has ended."""
    result: list[float] = []
    began = time.perf_counter()
    yield result
    result.append(time.perf_counter() - began)


def in_child(code: str, *arguments: str) -> str:
    """What a fresh interpreter prints when it runs the code."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def machine() -> str:
    """What this was measured on."""
    model = "unknown processor"
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{os.cpu_count()} x {model}, {platform.system()} {platform.release()}, Python {platform.python_version()}"
