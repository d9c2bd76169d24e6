"""Trajectories that are spread over files: subagents and continuations beside the main one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from golden_cases import FOLDER, run_of
from stenograph.export.exporter import SideFile, exporter_named
from stenograph.fold.losses import LossReport
from stenograph.model import Event
from stenograph.sources.conversion import convert


def told(path: Path) -> list[tuple[str, str, Any]]:
    """The events without their times, ids and places; a trajectory's own facts name files, so they are left out."""
    events: list[Event] = [event for event in convert(path) if getattr(event.payload, "subtype", "") != "trajectory"]
    return [(event.type, event.source, event.payload) for event in events]


def test_subagents_in_files_read_like_those_inside(tmp_path: Path) -> None:
    """What an export embeds or writes beside the file is the same run."""
    events = run_of(FOLDER / "claude_code" / "2.1.325-nested")
    for how in ("embed", "files"):
        folder = tmp_path / how
        folder.mkdir()
        for piece in exporter_named("atif")(events, LossReport("atif"), subagents=how):
            if isinstance(piece, SideFile):
                (folder / piece.name).write_bytes(piece.data)
            else:
                (folder / "main.trajectory.json").write_bytes(piece)
    one, other = (told(tmp_path / how / "main.trajectory.json") for how in ("embed", "files"))
    assert {source for _, source, _ in other} == {source for _, source, _ in one}
    assert len({source for _, source, _ in one}) > 2
    assert other == one


def steps(*said: str) -> list[dict[str, Any]]:
    """Steps of the user and the agent in turn."""
    sources = ("user", "agent")
    return [{"step_id": n + 1, "source": sources[n % 2], "message": text} for n, text in enumerate(said)]


def trajectory(path: Path, *said: str, **more: Any) -> Path:
    """A file with a trajectory."""
    head = {"schema_version": "ATIF-v1.7", "session_id": "s1", "agent": {"name": "a", "version": "1"}}
    path.write_text(json.dumps(head | {"steps": steps(*said)} | more))
    return path


def test_a_continuation_is_part_of_the_run(tmp_path: Path) -> None:
    """It is read from the file beside it, and steps with the same number stay different messages."""
    main = trajectory(tmp_path / "t.json", "one", "two", continued_trajectory_ref="t.cont-1.json")
    trajectory(tmp_path / "t.cont-1.json", "three", "four", continued_trajectory_ref="t.json")
    events = [event for event in convert(main) if event.type.startswith("message.")]
    assert [event.payload.blocks[0].text for event in events] == ["one", "two", "three", "four"]  # type: ignore[union-attr]
    ids = [event.payload.message_id for event in events if event.type == "message.assistant"]  # type: ignore[union-attr]
    assert len(set(ids)) == 2


@pytest.mark.parametrize("name", ["gone.json", "../t.json", "/etc/passwd", ""])
def test_no_other_file_is_read(name: str, tmp_path: Path) -> None:
    """A trajectory may name only files in its own folder; what is not there is named in the report."""
    conversion = convert(trajectory(tmp_path / "t.json", "one", "two", continued_trajectory_ref=name))
    assert sum(event.type.startswith("message.") for event in conversion) == 2
    assert conversion.files[0].report.wanted_files == ([name] if name else [])
