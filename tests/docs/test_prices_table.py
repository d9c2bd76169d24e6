"""The shipped prices are what their script makes, and the page says how others count."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).parents[2]
OVERRIDES = json.loads((REPO / "tools" / "price-overrides.json").read_text())["models"]


def test_the_table_is_the_one_that_the_script_makes() -> None:
    """From the map of the installed package and the overrides; a new map shows as a difference, with what changes."""
    done = subprocess.run(
        [sys.executable, REPO / "tools" / "update-prices", "--check"], capture_output=True, text=True, check=False
    )
    version = json.loads((REPO / "src" / "stenograph" / "query" / "prices.json").read_text())["map"]
    if f", {version}\n" not in done.stdout:
        return  # another version of the map is installed: then the table is as old as it says
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_override_wins_and_says_why_and_from_where() -> None:
    """None is left that says the same as the map."""
    done = subprocess.run(
        [sys.executable, REPO / "tools" / "update-prices", "--check"], capture_output=True, text=True, check=False
    )
    listed = {line.split(": ")[1] for line in done.stdout.splitlines() if line.startswith("override: ")}
    assert listed == OVERRIDES.keys()
    assert "needless" not in done.stdout
    table = json.loads((REPO / "src" / "stenograph" / "query" / "prices.json").read_text())["models"]
    for name, own in OVERRIDES.items():
        assert own["why"]
        assert own["source"].startswith("https://")
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", own["date"])
        facts = {key: value for key, value in own.items() if key not in ("why", "source", "date")}
        assert {key: table[name][key] for key in facts} == facts


def test_every_difference_to_other_programs_has_its_cause() -> None:
    """The table of the page is written by the script; no cost in it differs by more than 1 % without a reason."""
    page = (REPO / "docs" / "benchmarks.md").read_text()
    table = page.partition("<!-- compared: begin -->")[2].partition("<!-- compared: end -->")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| ")][
        1:
    ]
    assert len(rows) > 10
    for _, _, _, ours, *theirs, causes in rows:
        mine = 0.0 if ours == "unknown" else float(ours)
        for name, cost in zip(("ccusage", "agentsview"), theirs, strict=True):
            differs = abs(mine - float(cost)) > 0.01 * max(mine, float(cost)) + 0.01  # cents are rounded
            assert not differs or f"{name}: " in causes
    assert "unexplained" not in table
