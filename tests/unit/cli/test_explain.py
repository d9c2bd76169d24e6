"""`steno explain`: facts for people and for programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from golden_cases import FOLDER
from stenograph import open_run, start_run

Steno = Callable[..., Any]
CASE = FOLDER / "claude_code" / "2.1.325-errors"


def _input() -> Path:
    return next(CASE.glob("input*"))


def test_a_run_is_explained_to_a_person(steno: Steno) -> None:
    """What was asked, what failed, where time went and how it ended stand in the text."""
    done = steno("explain", _input())
    assert done.code == 0, done.err
    for words in ("ended    finished", "asked:", "failed:", "time by tool:", "what filled the context", "last answer:"):
        assert words in done.out


def test_the_json_has_the_numbers_of_the_run(steno: Steno) -> None:
    """The same that `RunInfo` has."""
    told = steno("explain", _input(), "--json").json
    with open_run(_input()) as run:
        info = run.info
    for name in ("turns", "messages", "tool_calls", "failed_calls", "open_calls", "errors", "subagents"):
        assert told["totals"][name] == getattr(info, name)
    assert told["totals"]["usage"]["total"]["output_tokens"] == info.output_tokens
    assert (told["cost_usd"], told["cost_is_partial"]) == (info.cost_usd, info.cost_is_partial)
    assert told["verdict"]["status"] == info.status


def test_lines_that_are_left_out_are_counted_with_the_command_that_has_them(steno: Steno, tmp_path: Path) -> None:
    """Pages show the same lines, and there an option alone says nothing; of an answer, too, no line goes silently."""
    with start_run("count", root=tmp_path) as run:
        run.user("Count.")
        run.assistant("\n".join(f"line {number}" for number in range(25)))
    lines = steno("explain", run.path).out.splitlines()
    shown = sum(line.startswith("  line ") for line in lines)
    assert lines[-1] == f"  … and {25 - shown} more (steno explain --json has all)"
    assert "line 24" in steno("explain", run.path, "--json").json["answer"]


def test_what_cannot_be_read_is_exit_code_3(steno: Steno, tmp_path: Path) -> None:
    """As with every command."""
    assert steno("explain", tmp_path / "nothing.jsonl").code == 3
