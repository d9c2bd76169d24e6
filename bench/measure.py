"""Measuring: pairs in one run, medians, and what the machine is."""

from __future__ import annotations

import json
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
    met: bool | None
    """None where no goal is set."""


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


@dataclass(frozen=True)
class Spent:
    """What one process took, start-up included."""

    seconds: float
    processor: float
    """Seconds, of all its threads."""
    peak: float
    """Megabytes that it had in memory at most."""


# The kernel counts to a child's peak what its parent had in memory before the child's program began. So the parent is
# a process that has next to nothing.
_STARTER = """
import os, sys, time
began = time.perf_counter()
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, used = os.wait4(child, 0)
took = time.perf_counter() - began
print(f"[{took}, {used.ru_utime + used.ru_stime}, {used.ru_maxrss * 1024 / 1e6}]")
sys.exit(os.waitstatus_to_exitcode(status))
"""
# Engines start processes that outlive those who started them, and their time would be nobody's. So the starter takes
# over what is orphaned below it (PR_SET_CHILD_SUBREAPER of Linux), and waits for all of it.
_TREE_STARTER = """
import ctypes, os, resource, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
began = time.perf_counter()
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
status = None
try:
    while True:
        ended, how = os.wait()
        status = how if ended == child else status
except ChildProcessError:
    pass
took = time.perf_counter() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"[{took}, {used.ru_utime + used.ru_stime}, {used.ru_maxrss * 1024 / 1e6}]")
sys.exit(os.waitstatus_to_exitcode(status))
"""
BYTECODE = Path(__file__).parent.parent / ".cache" / "bytecode"


def spent_by(*arguments: object, tree: bool = False) -> Spent:
    """Run `python` with these arguments as people run an installed program: its bytecode is there.

    With `tree`, processes count that were started by it and outlived it.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    starter = _TREE_STARTER if tree else _STARTER
    command = [sys.executable, "-I", "-S", "-c", starter, sys.executable, *map(str, arguments)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, check=True, env={**environment, "PYTHONPYCACHEPREFIX": str(BYTECODE)}
    )
    return Spent(*json.loads(done.stdout))


def median_spent(job: Callable[[], Spent], rounds: int = 5) -> Spent:
    """The medians over some rounds, after one for caches; of memory the most."""
    job()
    spent = [job() for _ in range(rounds)]
    return Spent(
        statistics.median(each.seconds for each in spent),
        statistics.median(each.processor for each in spent),
        max(each.peak for each in spent),
    )


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Variables for the commands that are measured."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def peak_of(process: int) -> float:
    """The megabytes that a living process had in memory at most; not those of who started it, as `ru_maxrss` tells."""
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmHWM"))


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
