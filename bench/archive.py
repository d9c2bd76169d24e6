"""The archive: a first sync of a whole machine, one with nothing to do, and a search; beside what others take."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import venv
from pathlib import Path

from bench.measure import Row, Spent, environment, in_child, median_spent, spent_by, stopwatch
from bench.tree import SESSIONS, make_tree

PEER = Path(__file__).parent.parent / ".cache" / "archive-peer"
PAIRS = 5
PHRASE = "backwards compatibility"
_IDLE = """
import json, sys, time
from pathlib import Path
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import roots_of
began = time.perf_counter()
archive = Path(sys.argv[2])
with Store(home_of(archive)) as store:
    summary = sync(store, roots_of({}, Path(sys.argv[1]), archive))
print(json.dumps({"seconds": time.perf_counter() - began, "read": summary.bytes_read}))
"""


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    home, archive = folder / "tree", folder / "archive"
    size = make_tree(home)
    missing = install_peer()
    ours: list[Spent] = []
    theirs: list[float] = []
    with environment(STENOGRAPH_HOME=str(archive)):
        for _ in range(PAIRS):  # in turns, so that noise hits both; neither pays for what the other left to be written
            os.sync()
            if not missing:
                theirs.append(_agentsview(home, folder / "agentsview"))
            shutil.rmtree(archive, ignore_errors=True)
            os.sync()
            ours.append(spent_by("-m", "stenograph", "sync", "--home", home))
        idle = json.loads(in_child(_IDLE, str(home), str(archive)))
        search = median_spent(lambda: spent_by("-m", "stenograph", "search", f'"{PHRASE}"'))
    kept = sum(path.stat().st_size for path in (archive / "kept").iterdir()) / size
    index = (archive / "index.db").stat().st_size / size
    ripgrep = _ripgrep(home)
    shutil.rmtree(home)
    shutil.rmtree(archive)
    peak = max(each.peak for each in ours)
    return [
        _first_sync(size, [each.seconds for each in ours], theirs, missing),
        Row("its memory", "≤ 300 MB RSS", f"{peak:.0f} MB", "", peak <= 300),
        Row("`steno sync` with nothing new", "≤ 0.2 s, no byte read", f"{idle['seconds']:.2f} s, {idle['read']} bytes",
            "", idle["seconds"] <= 0.2 and idle["read"] == 0),
        Row("size of the index", "≤ 1.0 x the source", f"{index:.2f} x", "", index <= 1.0),
        Row("size of what is kept", "≤ 0.25 x the source", f"{kept:.2f} x", "", kept <= 0.25),
        Row("`steno search` for a phrase in it, start-up included", "≤ 200 ms", f"{search.seconds * 1000:.0f} ms",
            ripgrep, search.seconds <= 0.2),
    ]  # fmt: skip


def _first_sync(size: int, ours: list[float], theirs: list[float], missing: str) -> Row:
    rate = size / statistics.median(ours) / 1e6
    job = f"first `steno sync` ({SESSIONS} sessions, {size / 1e6:.0f} MB), start-up included"
    if not theirs:
        return Row(job, "≥ 17 MB/s", f"{rate:.1f} MB/s", f"agentsview is not installed: {missing}", rate >= 17)
    peer = size / statistics.median(theirs) / 1e6
    ratio = statistics.median(their / our for our, their in zip(ours, theirs, strict=True))
    return Row(job, "≥ 2 x agentsview", f"{rate:.1f} MB/s, {ratio:.2f} x", f"agentsview {peer:.1f} MB/s", ratio >= 2)


def install_peer() -> str:
    """Why agentsview cannot be had; nothing when it is here."""
    if (PEER / "bin" / "agentsview").exists():
        return ""
    venv.create(PEER, with_pip=True)
    command = [PEER / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "agentsview"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["pip failed"])[-1]


def _agentsview(home: Path, folder: Path) -> float:
    """The seconds that agentsview takes for the first sync of the same tree."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with stopwatch() as took:
        command = [PEER / "bin" / "agentsview", "sync"]
        subprocess.run(command, env={**os.environ, **peer_environment(home, folder)}, capture_output=True, check=True)
    shutil.rmtree(folder)
    return took[0]


def peer_environment(home: Path, folder: Path) -> dict[str, str]:
    """What makes agentsview read the tree under `home`, and keep what is its own in `folder`."""
    return {
        "HOME": str(folder),
        "AGENTSVIEW_DATA_DIR": str(folder / "data"),
        "AGENTSVIEW_NO_DAEMON": "1",
        "CLAUDE_PROJECTS_DIR": str(home / ".claude" / "projects"),
        "CODEX_SESSIONS_DIR": str(home / ".codex" / "sessions"),
    }


def _ripgrep(home: Path) -> str:
    program = shutil.which("rg")
    if program is None:
        return "ripgrep is not installed (Debian: apt-get install ripgrep)"
    taken = []
    for _ in range(5):
        with stopwatch() as took:
            command = [program, "--hidden", "--files-with-matches", PHRASE, str(home)]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        taken.append(took[0])
    return f"ripgrep {statistics.median(taken) * 1000:.0f} ms"
