"""Sending an archive to a store: a first push to a folder, and one with nothing new."""

from __future__ import annotations

import shutil
import statistics
import time
from pathlib import Path

from bench.measure import Row
from bench.tree import make_tree
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import roots_of
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.fleet.store.objects import open_store
from stenograph.fleet.store.push import Pushed, push

SIZE, SESSIONS = 100_000_000, 130
ROUNDS = 5


def rows(folder: Path) -> list[Row]:
    """Every measurement of this part."""
    home, archive = folder / "pushed-home", folder / "pushed"
    size = make_tree(home, SIZE, SESSIONS)
    with Store(home_of(archive)) as store:
        sync(store, roots_of({}, home, archive))
    _pushed(archive, folder / "store")  # a first round for imports, not counted
    first, again = [], []
    for _ in range(ROUNDS):
        shutil.rmtree(folder / "store")
        pushed, took = _pushed(archive, folder / "store")
        first.append(took)
        again.append(_pushed(archive, folder / "store")[1])
    shutil.rmtree(home)
    shutil.rmtree(archive)
    shutil.rmtree(folder / "store")
    speed = pushed.bytes / statistics.median(first) / 1e6
    idle = statistics.median(again)
    sent = f"{pushed.bytes / 1e6:.0f} MB kept of {size / 1e6:.0f} MB, {pushed.events:,} events with them"
    return [
        Row(
            "send an archive to a folder, kept bytes and events",
            "≥ 20 MB/s of kept bytes by processor time",
            f"{speed:.0f} MB/s by processor time ({sent})",
            "",
            speed >= 20,
        ),
        Row("send it again, with nothing new", "≤ 0.1 s of processor", f"{idle:.3f} s", "", idle <= 0.1),
    ]


def _pushed(archive: Path, store: Path) -> tuple[Pushed, float]:
    began = time.process_time()
    pushed = push(home_of(archive), open_store(f"file://{store}"))
    return pushed, time.process_time() - began
