"""Removes a run again and again, killed at another moment each time; a process of its own, which can fork.

Usage: forget_kills.py FOLDER KILLS, with FOLDER/archive made before. Prints one JSON object.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from canary import places_of
from killing import in_child, killed_after
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.runs.forgetting import Wanted, forget_runs, plan_of

CANARY = "quetzalcoatlus"


def removing(archive: Path) -> None:
    """Remove the run with the canary."""
    home = home_of(archive)
    plan = plan_of(home, Wanted(containing=CANARY))
    forget_runs(home, plan, why="a test", by="me", at="now", also_source=False)


def next_call(archive: Path) -> None:
    """Whatever writes next."""
    with Store(home_of(archive)):
        pass


def state(archive: Path, told: Path) -> None:
    """Write down where the canary is."""
    told.write_text(json.dumps(places_of(archive, CANARY)))


def main() -> None:
    """Kill, look, go on, look."""
    folder, kills = Path(sys.argv[1]), int(sys.argv[2])
    work, told = folder / "work", folder / "told"
    outcome = {"killed": 0, "whole": 0, "gone": 0, "half": 0}
    shutil.copytree(folder / "archive", work)
    assert in_child(lambda: killed_after(lambda: removing(work), 0, told)) == 0
    total = int(told.read_text())
    assert in_child(lambda: state(folder / "archive", told)) == 0
    whole = json.loads(told.read_text())
    for number in range(kills):
        shutil.rmtree(work)
        shutil.copytree(folder / "archive", work)
        calls = 1 + number * total // kills
        ended = in_child(lambda calls=calls: killed_after(lambda: removing(work), calls))
        outcome["killed"] += os.WIFSIGNALED(ended)
        assert in_child(lambda: next_call(work)) == 0
        assert in_child(lambda: state(work, told)) == 0
        found = json.loads(told.read_text())
        outcome["gone" if not found else "whole" if found == whole else "half"] += 1
        assert not (work / "forget.json").exists()
    print(json.dumps(outcome))


if __name__ == "__main__":
    main()
