"""What of a run is replayed, wherever it is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden_cases import FOLDER
from stenograph import open_archive
from stenograph.errors import InvalidTarget
from stenograph.model import encode
from stenograph.replay.loading import load_recording
from stenograph.replay.recording import Recording
from stenograph.testing import make_run

CODEX = FOLDER / "codex_rollout" / "subagent-v1" / "input"
CLAUDE = FOLDER / "claude_code" / "2.1.325-nested" / "input"


def _lanes(recording: Recording) -> list[tuple[str, int]]:
    return [(lane.name.rpartition(" ")[2], len(lane.answers)) for lane in recording.lanes]


def _parent() -> Path:
    (found,) = CODEX.rglob("*e7257b468317.jsonl")
    return found


def test_child_threads_of_codex_are_found_beside_the_parent() -> None:
    """Each is a run and a file of its own."""
    recording = load_recording(_parent())
    assert _lanes(recording) == [("main", 5), ("main", 2)]
    assert recording.cwd == "/home/user/code/work/app_subagent_v1"


def test_subagents_of_claude_code_are_lanes() -> None:
    """Also those of subagents."""
    (path,) = CLAUDE.glob("*.jsonl")
    assert [number for _, number in _lanes(load_recording(path))] == [3, 2, 2]


def test_a_run_of_the_archive_is_replayed_with_its_children(tmp_path: Path) -> None:
    """The same as from the agent's own files."""
    with open_archive(tmp_path / "archive") as archive:
        archive.sync(paths=[str(CODEX)])
    run_id = _parent().stem[-36:]
    archived = load_recording(run_id, archive=tmp_path / "archive")
    assert _lanes(archived) == _lanes(load_recording(_parent()))
    assert archived.cwd == "/home/user/code/work/app_subagent_v1"


def test_a_run_without_an_answer_is_refused(tmp_path: Path) -> None:
    """There is nothing to replay."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(encode(event) + b"\n" for event in make_run("Hello")))
    with pytest.raises(InvalidTarget, match="nothing to replay"):
        load_recording(path)
