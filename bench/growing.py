"""A sync after one line more of a long session, which also looks whether anything before was edited."""

from __future__ import annotations

import json
import statistics
import time
from itertools import cycle
from pathlib import Path

from bench.measure import Row
from bench.tree import make_tree
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import roots_of
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store

TIMES = 7
_SIZES = ((3_500_000, 4_000_000), (10_000_000, 1 << 17))
"""A session that is compared whole, and one that is too long for it; with the most that may be read of it."""


def rows(folder: Path) -> list[Row]:
    """Every measurement of this part."""
    return [_one_line_more(folder / f"growing-{size}", size, most) for size, most in _SIZES]


def _one_line_more(folder: Path, size: int, most: int) -> Row:
    home, archive = folder / "home", folder / "archive"
    make_tree(home, size, 1, seed=3)
    session = max(home.rglob("*.jsonl"), key=lambda each: each.stat().st_size)
    lines = session.read_bytes().splitlines(keepends=True)
    with session.open("ab") as file:
        for line in cycle(lines):
            if file.tell() > size:
                break
            file.write(line)
    roots = roots_of({}, home, archive)
    taken, read = [], 0
    with Store(home_of(archive)) as store:
        for _ in range(4):  # the first comparison of a long file goes on over some syncs
            sync(store, roots)
        for number in range(TIMES):
            with session.open("ab") as file:
                file.write(_changed(lines[-1], number))
            began = time.process_time()
            read = max(read, sync(store, roots).bytes_read)
            taken.append(time.process_time() - began)
            for _ in range(2):
                sync(store, roots)
    took = statistics.median(taken)
    return Row(
        f"a sync of one line more of a session of {size / 1e6:.1f} MB",
        "≤ 20 ms of processor",
        f"{took * 1000:.0f} ms, {read / 1000:.0f} kB read",
        "",
        took <= 0.02 and read <= most,
    )


def _changed(line: bytes, number: int) -> bytes:
    """The same line as another record."""
    record = json.loads(line)
    record["uuid"] = f"more-{number}"
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
