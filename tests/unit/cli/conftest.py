"""The command line in this process: parsed, run and printed as `steno` does it, only quicker."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stenograph import Run, start_run
from stenograph.cli import main


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)

    @property
    def json_lines(self) -> list[Any]:
        """Standard output as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def steno(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """`steno("show", run_id, …)`."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["steno", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        code = ended.value.code
        return Outcome(0 if code is None else int(code), out, err)

    return run


@pytest.fixture
def recorded(root: Path) -> tuple[Run, Run]:
    """A small run and the run it called."""
    with start_run("review", root=root) as run, run.step("read", "agent") as step:
        step.user("Review it.", "Be careful.")
        step.assistant([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Fine. 零"}])
        with step.tool("read_file", {"path": "a.py"}) as call:
            call.output = "\n".join(f"line {number}" for number in range(50))
        with step.call_workflow("release") as child:
            child.user("Go.")
    return run, child
