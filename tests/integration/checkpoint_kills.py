"""Syncs and signs again and again, killed at another moment each time; a process of its own, which can fork.

Usage: checkpoint_kills.py FOLDER KILLS, with FOLDER/home and FOLDER/archive made before, and FOLDER/more to be kept.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from archive_cases import synced
from killing import in_child, killed_after
from stenograph.archive.store.home import home_of
from stenograph.evidence.anchor import load_anchor
from stenograph.evidence.log import Log
from stenograph.evidence.signing import sign


def keeping(work: Path, home: Path) -> None:
    """Keep what is new, and sign."""
    synced(home, work)
    sign(home_of(work))


def look(work: Path, told: Path) -> None:
    """How many leaves the checkpoint says, how many there are, and whether it fits."""
    log, checkpoint = Log(home_of(work).kept), load_anchor(work / "evidence" / "checkpoint").checkpoint
    fits = checkpoint.size <= log.tree.size and log.tree.root(checkpoint.size) == checkpoint.root
    told.write_text(json.dumps([checkpoint.size, log.tree.size, fits]))


def main() -> None:
    """Kill, look, go on, look."""
    folder, kills = Path(sys.argv[1]), int(sys.argv[2])
    work, told, more = folder / "work", folder / "told", folder / "more"
    outcome = {"killed": 0, "old": 0, "new": 0, "bad": 0}
    shutil.copytree(folder / "archive", work)
    assert in_child(lambda: killed_after(lambda: keeping(work, more), 0, told)) == 0
    total = int(told.read_text())
    for number in range(kills):
        shutil.rmtree(work)
        shutil.copytree(folder / "archive", work)
        calls = 1 + number * total // kills
        ended = in_child(lambda calls=calls: killed_after(lambda: keeping(work, more), calls))
        outcome["killed"] += os.WIFSIGNALED(ended)
        assert in_child(lambda: look(work, told)) == 0
        size, _, fits = json.loads(told.read_text())
        outcome["bad" if not fits else "old" if size == 1 else "new"] += 1
        assert in_child(lambda: keeping(work, more)) == 0
        assert in_child(lambda: look(work, told)) == 0
        outcome["bad"] += json.loads(told.read_text()) != [3, 3, True]
    print(json.dumps(outcome))


if __name__ == "__main__":
    main()
