"""Evidence: what it takes to audit an archive, with the content of every frame and by headers alone."""

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
from stenograph.archive.store.pack import About, Header, PackWriter
from stenograph.archive.writer import Store
from stenograph.evidence.audit import audit

SIZE, SESSIONS = 100_000_000, 130
FRAMES = 100_000
LINE = b'{"type":"user","message":{"role":"user","content":"go on"}}\n'
ROUNDS = 3


def rows(folder: Path) -> list[Row]:
    """Every measurement of this part."""
    return [_whole(folder), _quick(folder)]


def _whole(folder: Path) -> Row:
    home, archive = folder / "audited-home", folder / "audited"
    size = make_tree(home, SIZE, SESSIONS)
    with Store(home_of(archive)) as store:
        sync(store, roots_of({}, home, archive))
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        verdict = audit(archive / "kept")
        taken.append(time.process_time() - began)
        assert verdict.is_whole
        assert verdict.bytes_checked >= size
    shutil.rmtree(home)
    shutil.rmtree(archive)
    speed = verdict.bytes_checked / statistics.median(taken) / 1e6
    return Row(
        f"audit an archive of {size / 1e6:.0f} MB of agents' files, every byte",
        "≥ 100 MB/s of processor time",
        f"{speed:.0f} MB/s",
        "",
        speed >= 100,
    )


def _quick(folder: Path) -> Row:
    packs = folder / "frames"
    packs.mkdir()
    about = About(
        root="/", path="/one.jsonl", format="claude_code", run_id="00000000-0000-4000-8000-000000000000", at=""
    )
    writer = PackWriter(packs)
    for number in range(FRAMES):
        first = about if number == 0 else None
        start = number * len(LINE)
        header = Header(kind="bytes", file=1, version=1, batch=number + 1, start=start, about=first)
        writer.append(header, LINE)
    writer.close()
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        verdict = audit(packs, quick=True)
        taken.append(time.process_time() - began)
    assert verdict.frames == FRAMES
    shutil.rmtree(packs)
    took = statistics.median(taken)
    return Row(f"quick audit of {FRAMES:,} frames", "< 2 s of processor", f"{took:.2f} s", "", took < 2)
