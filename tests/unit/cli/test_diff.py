"""`steno diff`: exit codes, text, JSON, and many runs against one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from golden_cases import FOLDER
from stenograph import open_run

Steno = Callable[..., Any]


def _input(case: str) -> Path:
    return next((FOLDER / "claude_code" / case).glob("input*"))


LEFT, RIGHT = _input("2.1.325-errors"), _input("2.1.325-basic")


def test_a_run_is_the_same_as_itself(steno: Steno) -> None:
    """Exit code 0."""
    done = steno("diff", LEFT, LEFT)
    assert done.code == 0, done.err
    assert "the same prompts, answers, calls and files" in done.out


def test_two_runs_that_differ(steno: Steno) -> None:
    """Exit code 1; prompts, calls, files and figures stand side by side."""
    done = steno("diff", LEFT, RIGHT)
    assert done.code == 1
    assert "- Please do the errors thing." in done.out
    assert "+ Please do the basic thing." in done.out
    assert "- NoSuchTool #49" in done.out
    assert "the runs differ" in done.out


def test_the_json_has_the_numbers_of_both_runs(steno: Steno) -> None:
    """The same that `RunInfo` has of each."""
    told = steno("diff", LEFT, RIGHT, "--json").json
    assert told["is_same"] is False
    figures = {figure["name"]: figure for figure in told["figures"]}
    for side, path in (("left", LEFT), ("right", RIGHT)):
        with open_run(path) as run:
            info = run.info
        for name in ("turns", "tool_calls", "failed_calls", "input_tokens", "output_tokens", "cost_usd"):
            assert figures[name][side] == getattr(info, name)


def test_many_runs_against_one(steno: Steno) -> None:
    """A row each, the base first."""
    done = steno("diff", "--base", LEFT, LEFT, RIGHT, "--json")
    assert done.code == 1
    assert [row["is_same"] for row in done.json] == [True, True, False]
    assert [row["tool_calls"] for row in done.json] == [5, 5, 4]
    assert steno("diff", "--base", LEFT, LEFT).code == 0


def test_one_run_alone_is_wrong_usage(steno: Steno) -> None:
    """And three without a base."""
    assert steno("diff", LEFT).code == 2
    assert steno("diff", LEFT, LEFT, LEFT).code == 2
    assert steno("diff", LEFT, "nothing-here").code == 3
