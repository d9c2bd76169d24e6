"""A run to pack, and a folder to pack it in."""

from __future__ import annotations

from pathlib import Path

import pytest

from stenograph import Run, start_run
from stenograph.bundle import BundleOptions

BARE = BundleOptions(environment=False, page=False)
"""Only what comes from the run."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of any repository: what git says of ours is nobody's business."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def bare() -> BundleOptions:
    """Only what comes from the run."""
    return BARE


@pytest.fixture
def recorded(root: Path) -> Run:
    """A run with a message, a tool that fails, tokens, and a run that it called."""
    with start_run("review", root=root) as run:
        run.user("Review it.", "Be careful.")
        run.assistant([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Fine. 零"}], message_id="m-1")
        run.usage(10, 5, message_id="m-1", model="small")
        with run.tool("read_file", {"path": "a.py"}) as call:
            call.fail("no such file")
        with run.call_workflow("release") as child:
            child.user("Go.")
    return run
