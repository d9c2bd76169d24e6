"""Agents' files as events: what belongs together, in which order, with which numbers."""

from __future__ import annotations

import io
import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

from stenograph.errors import InvalidFormat, RunNotFound, SourceError
from stenograph.model import Event, Origin, TextBlock
from stenograph.sources import convert, convert_stream, detect_file
from stenograph.sources.detection import format_named
from stenograph.sources.merge import merged
from stenograph.sources.verify import verify_agent_file

SESSION = "11111111-2222-4333-8444-555555555555"


def line(kind: str, text: str, at: str, **more: object) -> str:
    record = {
        "type": kind,
        "uuid": f"u-{text}",
        "sessionId": SESSION,
        "timestamp": at,
        "message": {"role": kind, "content": text if kind == "user" else [{"type": "text", "text": text}]},
    }
    if kind == "assistant":
        record["message"] |= {"id": f"msg-{text}", "model": "m", "usage": {"input_tokens": 1, "output_tokens": 2}}  # type: ignore[operator]
    return json.dumps(record | more) + "\n"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session with two subagents of the 2.1 layout, the second one without a sidecar."""
    main = tmp_path / f"{SESSION}.jsonl"
    main.write_text(
        line("user", "go", "2026-01-01T00:00:00.000Z") + line("assistant", "done", "2026-01-01T00:00:09.000Z")
    )
    folder = tmp_path / SESSION / "subagents"
    folder.mkdir(parents=True)
    for agent, second in (("a1", 3), ("b2", 5)):
        (folder / f"agent-{agent}.jsonl").write_text(
            line("user", f"task {agent}", f"2026-01-01T00:00:0{second}.000Z", isSidechain=True, agentId=agent)
            + line(
                "assistant", f"answer {agent}", f"2026-01-01T00:00:0{second + 1}.000Z", isSidechain=True, agentId=agent
            )
        )
    (folder / "agent-a1.meta.json").write_text(json.dumps({"agentType": "x", "toolUseId": "toolu_1"}))
    return main


def texts(events: list[Event]) -> list[tuple[str, str]]:
    found = []
    for event in events:
        if event.type in ("message.user", "message.assistant"):
            found += [(event.source, block.text) for block in event.payload.blocks if isinstance(block, TextBlock)]
    return found


def test_a_session_comes_with_its_subagents_in_the_order_of_time(session: Path) -> None:
    """Several files of one run merge by their timestamps, each named by its source."""
    events = list(convert(session))
    assert texts(events) == [
        ("main", "go"),
        ("subagent:a1", "task a1"),
        ("subagent:a1", "answer a1"),
        ("subagent:b2", "task b2"),
        ("subagent:b2", "answer b2"),
        ("main", "done"),
    ]
    assert {event.run_id for event in events} == {SESSION}
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


def test_a_sidecar_tells_which_call_spawned_a_subagent(session: Path) -> None:
    """The link to the spawning call is on every event of the subagent; without a sidecar there is none."""
    links = defaultdict(set)
    for event in convert(session):
        assert event.origin is not None
        links[event.source].add((event.origin.parent_source, event.origin.parent_call_id, event.origin.file))
    assert links["subagent:a1"] == {("main", "toolu_1", f"{SESSION}/subagents/agent-a1.jsonl")}
    assert links["subagent:b2"] == {(None, None, f"{SESSION}/subagents/agent-b2.jsonl")}
    assert links["main"] == {(None, None, None)}


def test_a_subagent_file_alone_belongs_to_its_session(session: Path) -> None:
    """It has the run of its session and its own source."""
    events = list(convert(session.parent / SESSION / "subagents" / "agent-a1.jsonl"))
    assert {(event.run_id, event.source) for event in events} == {(SESSION, "subagent:a1")}


def test_a_folder_gives_every_session_once(session: Path) -> None:
    """Subagent files go with their session, files of no known format are named and skipped."""
    (session.parent / "notes.json").write_text('{"shopping": ["milk"]}\n')
    conversion = convert(session.parent)
    assert texts(list(conversion)) == texts(list(convert(session)))
    skipped = [file for file in conversion.files if file.format is None]
    problems = [(Path(file.path).name, file.problem) for file in skipped]
    assert problems == [("notes.json", "no format recognizes it, skipped")]


def test_a_stream_opens_no_side_files(session: Path) -> None:
    """Only what comes through the stream is read."""
    conversion = convert_stream(io.BytesIO(session.read_bytes()))
    assert texts(list(conversion)) == [("main", "go"), ("main", "done")]
    assert [file.path for file in conversion.files] == ["-"]


def test_an_empty_stream_gives_nothing() -> None:
    """Nothing in, nothing out, and no complaint."""
    assert list(convert_stream(io.BytesIO(b""))) == []


def test_what_no_format_knows_is_refused_with_advice(tmp_path: Path) -> None:
    """One sentence: what, where, what to do."""
    path = tmp_path / "x.jsonl"
    path.write_text("not a transcript\n")
    with pytest.raises(SourceError, match=r"x\.jsonl is not in a known format; steno formats"):
        convert(path)
    with pytest.raises(SourceError, match="not in a known format"):
        convert_stream(io.BytesIO(b"garbage\n"))


def test_a_given_format_is_taken_at_its_word(tmp_path: Path) -> None:
    """With the format forced even garbage gives events."""
    path = tmp_path / "x.jsonl"
    path.write_text("not a transcript\n")
    (event,) = convert(path, format_named("claude_code"))
    assert (event.type, event.payload.text) == ("unknown", "not a transcript")


def test_a_missing_file_and_an_unknown_format_are_said_so(tmp_path: Path) -> None:
    """The errors say whose fault it is."""
    with pytest.raises(RunNotFound, match="does not exist"):
        convert(tmp_path / "nothing.jsonl")
    with pytest.raises(InvalidFormat, match=r"unknown format 'nope'; known formats: acp, aider, .*claude_code"):
        format_named("nope")


def test_lines_before_any_timestamp_take_the_file_time(tmp_path: Path) -> None:
    """`given` until a line has a time of its own, `inherited` after."""
    path = tmp_path / f"{SESSION}.jsonl"
    summary = json.dumps({"type": "summary", "summary": "s", "leafUuid": "l"}) + "\n"
    path.write_text(summary + line("user", "go", "2026-01-01T00:00:00.000Z") + summary)
    os.utime(path, (0, 0))
    first, second, third = convert(path)
    assert first.origin is not None
    assert third.origin is not None
    assert (first.timestamp, first.origin.time) == ("1970-01-01T00:00:00.000000Z", "given")
    assert second.origin is not None
    assert second.origin.time is None
    assert (third.timestamp, third.origin.time) == ("2026-01-01T00:00:00.000Z", "inherited")


def test_a_parked_output_is_joined_when_it_is_there(tmp_path: Path) -> None:
    """The text of the side file is the output; a missing one is named."""
    saved = f"Output too large. Full output saved to: /x/{SESSION}/tool-results/t1.txt"
    parked = f"<persisted-output>\n{saved}\n\nPreview:\nab\n</persisted-output>"
    record = {
        "type": "user", "uuid": "u", "sessionId": SESSION, "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": parked}]},
    }  # fmt: skip
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_text(json.dumps(record) + "\n")
    conversion = convert(path)
    (event,) = conversion
    assert event.payload.output == parked
    assert [Path(name).name for name in conversion.files[0].report.wanted_files] == ["t1.txt"]
    folder = tmp_path / SESSION / "tool-results"
    folder.mkdir(parents=True)
    (folder / "t1.txt").write_text("all of it")
    (event,) = convert(path)
    assert event.payload.output == "all of it"


def test_detection_tells_format_run_and_source(session: Path) -> None:
    """What `steno detect` prints."""
    found = detect_file(session)
    assert found.spec is not None
    assert (found.spec.name, found.run_id, found.identity.source) == ("claude_code", SESSION, "main")


def test_verify_tells_what_is_wrong_with_an_agents_file(session: Path) -> None:
    """Malformed lines are a problem; open calls are told."""
    assert verify_agent_file(session).ok
    session.write_text(session.read_text() + "{broken\n")
    report = verify_agent_file(session)
    assert (report.ok, report.malformed, report.format) == (False, 1, "claude_code")


def test_merging_puts_a_first_line_without_a_time_before_the_next_one() -> None:
    """Its time is that of the file, which is later than all that is in it: it must not hold the others back."""

    def event(name: str, time: str, origin: Origin | None = None) -> Event:
        return Event(
            seq=0, run_id=name, type="unknown", path="", iteration=0, timestamp=time, payload=None, origin=origin
        )

    late = "2026-01-01T09:00:00Z"
    one = [event("a", late, Origin(time="given")), event("a", "2026-01-01T00:00:01Z")]
    other = [event("b", late, Origin(time="given")), event("b", "2026-01-01T00:00:02Z")]
    untimed = [event("c", late, Origin(time="given"))]
    assert [each.run_id for each in merged([untimed, other, one])] == ["a", "a", "b", "b", "c"]


def test_merging_never_reorders_inside_a_file() -> None:
    """A file whose clock goes backwards keeps its order; others find their place by the running maximum."""

    def series(name: str, *times: str) -> list[Event]:
        return [
            Event(seq=0, run_id=name, type="unknown", path=str(number), iteration=0, timestamp=time, payload=None)
            for number, time in enumerate(times)
        ]

    one = series("a", "2026-01-01T00:00:05Z", "2026-01-01T00:00:01Z", "no time", "2026-01-01T00:00:09Z")
    other = series("b", "2026-01-01T00:00:04.000001Z", "2026-01-01T00:00:06Z")
    order = [(event.run_id, event.path) for event in merged([one, other])]
    assert order == [("b", "0"), ("a", "0"), ("a", "1"), ("a", "2"), ("b", "1"), ("a", "3")]
