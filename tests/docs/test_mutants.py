"""The proofs of the contract fail when what they prove is broken."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
TOOL = REPO / "tools" / "mutants"


@pytest.mark.scale
@pytest.mark.timeout(1700)
def test_the_mutations_of_a_review_are_caught() -> None:
    """Seven changes that once passed every test: each is noticed by the test that is named for it."""
    done = subprocess.run([sys.executable, TOOL, "--named"], capture_output=True, text=True, timeout=1600)
    assert (done.returncode, done.stdout) == (0, "7 of 7 mutants caught (100%); 7 were drawn\n"), done.stderr


def told(*options: str) -> str:
    """What the tool prints."""
    return subprocess.run([sys.executable, TOOL, *options], capture_output=True, text=True, check=True).stdout


@pytest.mark.scale
@pytest.mark.timeout(1500)
def test_mutants_are_drawn_and_counted() -> None:
    """The same ones for the same seed; the page states what `make mutants` found."""
    drawn = told("--list", "--count", "20")
    assert drawn == told("--list", "--count", "20") != told("--list", "--count", "20", "--seed", "18")
    assert len(drawn.splitlines()) == 20
    assert " of 2 mutants caught " in told("--count", "2")
    assert "make mutants" in (REPO / "docs" / "benchmarks.md").read_text("utf-8")
    assert "tools/mutants\n" in (REPO / "Makefile").read_text("utf-8")


def test_the_score_is_of_all_of_them() -> None:
    """The page states how many of the 300 were caught, and its share is that of these numbers."""
    match = re.search(r"(\d+) of 300 were caught \((\d+) %\)", (REPO / "docs" / "benchmarks.md").read_text("utf-8"))
    assert match is not None
    assert round(int(match[1]) / 3) == int(match[2])
