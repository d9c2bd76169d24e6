"""The archive: a first sync of a whole machine, and one with nothing to do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from bench.measure import Row, in_child
from bench.tree import SESSIONS, make_tree

_SYNC = """
import json, sys, time
from pathlib import Path
from stenograph.archive.home import home_of
from stenograph.archive.store import Store
from stenograph.archive.sync import sync
from stenograph.archive.walk import roots_of
began = time.perf_counter()
archive = Path(sys.argv[2])
with Store(home_of(archive)) as store:
    summary = sync(store, roots_of({}, Path(sys.argv[1]), archive))
took = time.perf_counter() - began
peak = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
print(json.dumps({"seconds": took, "peak": int(peak[0].split()[1]) / 1000, "read": summary.bytes_read}))
"""


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    home, archive = folder / "tree", folder / "archive"
    size = make_tree(home)
    peer = _agentsview(home, folder)
    first = json.loads(in_child(_SYNC, str(home), str(archive)))
    idle = json.loads(in_child(_SYNC, str(home), str(archive)))
    rate = size / first["seconds"] / 1e6
    kept = sum(path.stat().st_size for path in (archive / "kept").iterdir()) / size
    index = (archive / "index.db").stat().st_size / size
    shutil.rmtree(home)
    shutil.rmtree(archive)
    goal = 17.0 if peer is None else 2 * size / peer / 1e6
    limit = "" if peer is None else f"agentsview {size / peer / 1e6:.1f} MB/s"
    what = f"{SESSIONS} sessions, {size / 1e6:.0f} MB"
    return [
        Row(f"first `steno sync` ({what})", f"≥ {goal:.0f} MB/s", f"{rate:.1f} MB/s", limit, rate >= goal),
        Row("its memory", "≤ 300 MB RSS", f"{first['peak']:.0f} MB", "", first["peak"] <= 300),
        Row("`steno sync` with nothing new", "≤ 0.2 s, no byte read", f"{idle['seconds']:.2f} s, {idle['read']} bytes",
            "", idle["seconds"] <= 0.2 and idle["read"] == 0),
        Row("size of the index", "≤ 1.0 x the source", f"{index:.2f} x", "", index <= 1.0),
        Row("size of what is kept", "≤ 0.25 x the source", f"{kept:.2f} x", "", kept <= 0.25),
    ]  # fmt: skip


def _agentsview(home: Path, folder: Path) -> float | None:
    """The seconds that agentsview takes for the same tree; None where it is not installed."""
    program = shutil.which("agentsview") or shutil.which("agentsview", path=".cache/agentsview/bin")
    if program is None:
        return None
    environment = {**os.environ, "HOME": str(home), "AGENTSVIEW_DATA_DIR": str(folder / "agentsview")}
    began = time.perf_counter()
    done = subprocess.run([program, "sync"], env=environment, capture_output=True, check=False)
    return time.perf_counter() - began if done.returncode == 0 else None
