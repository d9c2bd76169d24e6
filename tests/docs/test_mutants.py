"""The proofs of the contract fail when what they prove is broken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
TOOL = REPO / "tools" / "mutants"


@pytest.mark.scale
@pytest.mark.timeout(900)
def test_the_mutations_of_a_review_are_caught() -> None:
    """Seven changes that once passed every test: each is noticed by the test that is named for it."""
    done = subprocess.run([sys.executable, TOOL, "--named"], capture_output=True, text=True, timeout=800)
    assert (done.returncode, done.stdout) == (0, "7 of 7 mutants caught (100%); 7 were drawn\n"), done.stderr


@pytest.mark.scale
@pytest.mark.timeout(900)
def test_mutants_are_drawn_and_counted() -> None:
    """The same ones for the same seed; the page states what `make mutants` found."""
    drawn = [subprocess.run([sys.executable, TOOL, "--count", "2"], capture_output=True, text=True) for _ in range(2)]
    assert sorted(drawn[0].stdout.splitlines()) == sorted(drawn[1].stdout.splitlines())
    assert " of 2 mutants caught " in drawn[0].stdout
    assert "make mutants" in (REPO / "docs" / "benchmarks.md").read_text("utf-8")
    assert "tools/mutants\n" in (REPO / "Makefile").read_text("utf-8")
