"""Loaders and builders of a lake that are killed again and again: every event is there, and once."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from archive_cases import claude_line
from lakes import grow, growing, store_of
from stenograph.archive.store.home import home_of
from stenograph.fleet.lake.check import check
from stenograph.fleet.lake.load import load
from stenograph.fleet.lake.reading import Lake
from stenograph.fleet.store.push import push

SEED = 20261117
LOADER_KILLS, DRIVER_KILLS, WORKER_KILLS = 60, 30, 15
CHUNKS = 12

_LOADER = """
import sys
from stenograph.fleet.lake.load import load
from stenograph.fleet.store.objects import open_store
print("ready", flush=True)
load(open_store(sys.argv[1]), batch_bytes=1)
print("done", flush=True)
"""
_BUILDER = """
import sys
from stenograph.fleet.lake.build import build
if __name__ == "__main__":
    print("ready", flush=True)
    built = build(sys.argv[1], sys.argv[2], on=sys.argv[3], workers=2, chunk_bytes=1)
    print("done", built.events, flush=True)
"""


PATIENCE = "600s"
ENGINES = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": PATIENCE,
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": PATIENCE,
    "PYSPARK_SUBMIT_ARGS": f"--conf spark.python.authenticate.socketTimeout={PATIENCE} pyspark-shell",
    "SPARK_LOCAL_IP": "127.0.0.1",
    "RAY_enable_metrics_collection": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_worker_register_timeout_seconds": "600",
    "RAY_health_check_timeout_ms": "600000",
}
"""Settings of the engines: they do not give up on a slow machine, and kill no worker for the memory that others use."""


@contextmanager
def running(code: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A program of ours in a session of its own, which ends with all of its processes."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **ENGINES},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError):  # it may have ended by itself
                os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def rows_of(url: str) -> tuple[int, int]:
    with Lake(url).connected() as connection:
        query = "SELECT count(*), count(DISTINCT (archive, run_id, seq)) FROM events_table"
        found: tuple[int, int] = connection.execute(query).fetchall()[0]
    return found


@pytest.mark.scale
@pytest.mark.timeout(1500)
def test_two_loaders_killed_at_random_load_every_event_once(tmp_path: Path) -> None:
    """One commit per segment, two loaders at once, each killed somewhere; at the end one runs through."""
    store = store_of(tmp_path / "store")
    expected = 0
    for number in range(3):
        home, _, session = growing(tmp_path / f"host{number}")
        session = session.with_name(f"550e8400-e29b-41d4-a716-44665544000{number}.jsonl")
        for line in range(15):
            grow(home, session, line)
            expected += push(home_of(home), store).events
    chance = random.Random(SEED)
    killed = 0
    while killed < LOADER_KILLS:
        with running(_LOADER, store.url) as one, running(_LOADER, store.url) as other:
            for process in (one, other):
                assert process.stdout is not None
                process.stdout.readline()
            for process in (one, other):
                time.sleep(chance.uniform(0, 0.15))
                with suppress(ProcessLookupError):  # it may have ended by itself
                    os.killpg(process.pid, signal.SIGKILL)
                killed += 1
    load(store, batch_bytes=1)
    assert rows_of(store.url) == (expected, expected)
    assert check(store).ok


def transcripts(folder: Path, sessions: int, lines: int) -> int:
    """Sessions in folders of their own; how many events a build has of them."""
    for number in range(sessions):
        name = f"550e8400-e29b-41d4-a716-4466554{number:05}"
        place = folder / f"project{number}"
        place.mkdir(parents=True)
        text = b"".join(claude_line(line, session=name) for line in range(lines))
        (place / f"{name}.jsonl").write_bytes(text)
    return sessions * lines


def _children(process: int) -> list[int]:
    """The processes below one, the deepest last."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
            if parent == process:
                found += [int(folder.name), *_children(int(folder.name))]
    return found


def _workers(builder: subprocess.Popen[str]) -> list[int]:
    """The processes below a builder that make chunks, the one that worked hardest first."""
    return sorted((pid for pid in _children(builder.pid) if _is_worker(pid)), key=_ticks, reverse=True)


@pytest.mark.scale
@pytest.mark.timeout(1500)
def test_a_build_whose_workers_and_driver_are_killed_is_whole(tmp_path: Path) -> None:
    """A worker dies in the middle, and then the driver with all of them, again and again."""
    expected = transcripts(tmp_path / "in", 40, 50)
    source, target = f"file://{tmp_path}/in", f"file://{tmp_path}/out"
    chance = random.Random(SEED)
    drivers = workers = 0
    while drivers < DRIVER_KILLS or not workers:
        with running(_BUILDER, source, target, "processes") as builder:
            assert builder.stdout is not None
            builder.stdout.readline()
            if workers < WORKER_KILLS:
                workers += _kill_a_worker(builder, chance.uniform(0.0, 0.5))
            with suppress(subprocess.TimeoutExpired):
                builder.wait(chance.uniform(0.5, 3.0))
            is_ended = builder.poll() is not None
            with suppress(ProcessLookupError):  # it may have ended by itself
                os.killpg(builder.pid, signal.SIGKILL)
        drivers += not is_ended
        if is_ended:  # the next one is to have something to do
            shutil.rmtree(tmp_path / "out")
    with running(_BUILDER, source, target, "processes") as builder:
        output, errors = builder.communicate()
    assert f"done {expected}\n" in output, errors
    assert rows_of(target) == (expected, expected)


def _kill_a_worker(builder: subprocess.Popen[str], after: float) -> bool:
    """Kill a worker so many seconds after there are some; whether one was there."""
    while builder.poll() is None:
        if _workers(builder):
            time.sleep(after)
            for pid in _workers(builder)[:1]:
                with suppress(ProcessLookupError):  # it may have ended by itself
                    os.kill(pid, signal.SIGKILL)
                    return True
        time.sleep(0.02)
    return False


@pytest.mark.scale
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("engine", ["processes", "dask", "ray", "spark"])
def test_an_engine_whose_worker_is_killed_gives_the_same_rows(tmp_path: Path, engine: str) -> None:
    """The process that is doing a chunk dies once; the chunk is done again, and nothing is there twice."""
    expected = transcripts(tmp_path / "in", CHUNKS, 200)
    is_met, number = False, 0
    while not is_met and number < 5:  # again where the build was over before the kill, or its engine did not start
        number += 1
        with running(_BUILDER, f"file://{tmp_path}/in", f"file://{tmp_path}/out{number}", engine) as builder:
            is_met = _kill_in_the_middle(builder, tmp_path / f"out{number}")
            output, errors = builder.communicate()
    assert is_met, errors[-3000:]
    assert f"done {expected}\n" in output, errors[-3000:]
    assert rows_of(f"file://{tmp_path}/out{number}") == (expected, expected)


def _kill_in_the_middle(builder: subprocess.Popen[str], out: Path) -> bool:
    """Once a part is there, kill the process that works hardest below the builder; whether parts were left to make."""
    while builder.poll() is None:
        parts = list((out / "lake/parts").glob("*.json"))
        if len(parts) == CHUNKS:
            return False
        for pid in _workers(builder)[:1] if parts else ():
            with suppress(ProcessLookupError):  # it may have ended by itself
                os.kill(pid, signal.SIGKILL)
                return True
        time.sleep(0.02)
    return False


def _is_worker(pid: int) -> bool:
    """Whether a process runs Python for chunks: has our code loaded, and is not a server of its engine."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        return False
    names = (b"spawn_main", b"ray::", b"default_worker.py", b"pyspark/daemon", b"pyspark.daemon", b"distributed")
    return any(name in words for name in names) and b"resource_tracker" not in words and b"gcs_server" not in words


def _ticks(pid: int) -> int:
    try:
        return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    except OSError:
        return 0
