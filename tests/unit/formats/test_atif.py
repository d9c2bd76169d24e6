"""Trajectories that are spread over files: subagents and continuations beside the main one."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from golden_cases import FOLDER, run_of
from stenograph import open_archive
from stenograph.export.exporter import SideFile, exporter_named
from stenograph.export.exporting import export_run
from stenograph.fold.losses import LossReport
from stenograph.model import Event
from stenograph.model.block import AttachmentBlock
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


def test_subagents_that_no_result_names_are_part_of_the_run(tmp_path: Path) -> None:
    """After the steps, each as a source of its own, also if they have no name or the same one."""
    named = [{"trajectory_id": "a"}, {"trajectory_id": "a"}, {}, {}]
    head = {"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}}
    inside = [{**head, **each, "steps": steps(f"task {place}")} for place, each in enumerate(named)]
    events = [
        event
        for event in convert(trajectory(tmp_path / "t.json", "one", subagent_trajectories=inside))
        if event.type == "message.user"
    ]
    assert [event.payload.blocks[0].text for event in events] == ["one", *(f"task {place}" for place in range(4))]  # type: ignore[union-attr]
    sources = [event.source for event in events]
    assert sources[:2] == ["main", "subagent:a"]
    assert len(set(sources)) == 5
    assert [event.origin.parent_source for event in events if event.origin is not None] == [None, *["main"] * 4]


@pytest.mark.parametrize("name", ["gone.json", "../t.json", "/etc/passwd", ""])
def test_no_other_file_is_read(name: str, tmp_path: Path) -> None:
    """A trajectory may name only files in its own folder; what is not there is named in the report."""
    conversion = convert(trajectory(tmp_path / "t.json", "one", "two", continued_trajectory_ref=name))
    assert sum(event.type.startswith("message.") for event in conversion) == 2
    assert conversion.files[0].report.wanted_files == ([name] if name else [])


PNG = b"\x89PNG\r\n\x1a\n not utf-8: \xff\xfe"
WAV = b"RIFF\x00\xff"


def with_media(path: Path, *names: str) -> Path:
    """A trajectory whose prompt and first result have media in files of these names."""
    kinds = {"png": ("image", "image/png"), "wav": ("audio", "audio/wav"), "pdf": ("image", "image/png")}
    parts = []
    for name in names:
        kind, media_type = kinds[name.rpartition(".")[2]]
        parts.append({"type": kind, "source": {"media_type": media_type, "path": name}})
    said: list[dict[str, Any]] = [
        {"step_id": 1, "source": "user", "message": [{"type": "text", "text": "Look."}, *parts]},
        {
            "step_id": 2,
            "source": "agent",
            "message": "I look.",
            "tool_calls": [{"tool_call_id": "c1", "function_name": "see", "arguments": {}}],
            "observation": {"results": [{"source_call_id": "c1", "content": parts}]},
        },
    ]
    return trajectory(path, steps=said)


def attachments(events: Iterable[Event]) -> list[tuple[str, str, bytes]]:
    """Where an attachment is, its type and its bytes."""
    return [
        (event.type, block.media_type, base64.b64decode(block.data or ""))
        for event in events
        for block in getattr(event.payload, "blocks", None) or ()
        if isinstance(block, AttachmentBlock)
    ]


def test_pictures_and_sounds_in_files_are_part_of_the_run(tmp_path: Path) -> None:
    """Beside the file or in a folder below, in prompts and results; and through an export, which writes such files."""
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(PNG)
    (tmp_path / "b.wav").write_bytes(WAV)
    events = list(convert(with_media(tmp_path / "t.json", "images/a.png", "b.wav")))
    media = [("image/png", PNG), ("audio/wav", WAV)]
    found = [(kind, *each) for kind in ("message.user", "tool.result") for each in media]
    assert attachments(events) == found
    export = export_run(tmp_path / "t.json", "atif")
    assert sorted(export.side_files.values()) == sorted([PNG, WAV])
    (tmp_path / "out").mkdir()
    again = convert(export.write(tmp_path / "out")[0])
    assert attachments(again) == found
    assert again.files[0].report.wanted_files == []


@pytest.mark.parametrize("name", ["gone.png", "../a.png", "/a.png", "images/../../a.png", "https://h/a.png", "a.pdf"])
def test_no_other_picture_is_read(name: str, tmp_path: Path) -> None:
    """Only pictures and sounds, and only of its own folder; the part stays with its path, and the report names it."""
    folder = tmp_path / "inner"
    folder.mkdir()
    for place in (tmp_path / "a.png", folder / "a.pdf"):
        place.write_bytes(PNG)
    conversion = convert(with_media(folder / "t.json", name))
    events = list(conversion)
    assert attachments(events) == []
    assert name in str(events)
    report = conversion.files[0].report
    assert set(report.wanted_files) == (set() if name in ("a.pdf", "https://h/a.png") else {name})
    assert "attachments: in other files" in str((conversion.files[0].losses or {})["dropped"])


def test_pictures_are_kept_with_the_run(tmp_path: Path) -> None:
    """The archive has them when the files are gone, and gives them back where they were."""
    folder = tmp_path / "runs"
    (folder / "images").mkdir(parents=True)
    picture = folder / "images" / "a.png"
    picture.write_bytes(PNG)
    with_media(folder / "t.json", "images/a.png")
    with open_archive(tmp_path / "archive") as archive:
        archive.sync(paths=[str(folder)])
        picture.unlink()
        with archive.run("@") as run:
            run_id = run.info.run_id
            assert attachments(run.events()) == [(kind, "image/png", PNG) for kind in ("message.user", "tool.result")]
        written = archive.restore(run_id, tmp_path / "back")
    assert [path.read_bytes() for path in written if path.name == "a.png"] == [PNG]
