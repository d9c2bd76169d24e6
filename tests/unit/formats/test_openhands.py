"""OpenHands 1: a folder for each conversation, with its state and a file for each event."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from golden_cases import FOLDER
from stenograph.fold.usage import usage_totals
from stenograph.formats.openhands import SPEC
from stenograph.formats.openhands.times import utc_of
from stenograph.model import ErrorPayload, Event, SystemPayload, ToolPayload
from stenograph.sources import convert
from stenograph.sources.detection import detect_file
from stenograph.sources.layouts import layout_of
from stenograph.testing import check_format
from stored_sessions import case, differences, laid_out, listed, synced

CASES = sorted(path.name for path in (FOLDER / "openhands").iterdir())
ENVELOPE = {"id": "e", "timestamp": "2026-11-16T13:26:15.213394", "source": "environment"}


def home_with(name: str, home: Path) -> Path:
    """A home with a golden conversation at its place; the conversation's folder."""
    (folder,) = laid_out("openhands", name, home / ".openhands" / "conversations").iterdir()
    return folder


def add(folder: Path, number: int, **event: Any) -> Path:
    """Write one more event."""
    path = folder / "events" / f"event-{number:05}-{event.get('id', 'e')}.json"
    path.write_text(json.dumps(ENVELOPE | event), "utf-8")
    return path


def told(folder: Path, **event: Any) -> list[Event]:
    """The events of a conversation that are of one more event."""
    add(folder, 900, **event)
    events = list(convert(folder / "base_state.json"))
    return [each for each in events if each.origin is not None and each.origin.line == events[-1].origin.line]  # type: ignore[union-attr]  # all have one


@pytest.mark.parametrize("name", CASES)
def test_an_independent_count_finds_the_same(name: str) -> None:
    """Calls, results, failures, words and tokens of every conversation."""
    assert differences("openhands", case("openhands", name)) == {}


def test_the_laws_of_a_format_hold() -> None:
    """Of the state, of an event that stands alone, and of the lines of a conversation."""
    (folder,) = case("openhands", "resumed").iterdir()
    with layout_of("openhands").stored(folder / "base_state.json") as sessions:  # type: ignore[union-attr]  # it has one
        lines = b"".join(sessions[0].lines())
    check_format(SPEC, [lines, folder / "base_state.json", *sorted((folder / "events").iterdir())[1:5]])


def test_tokens_are_those_of_the_model() -> None:
    """Input with what was cached, output with what was thought, as the scripted model counted them."""
    total = usage_totals(convert(case("openhands", "resumed"))).total
    assert (total.records, total.input_tokens, total.cache_read_input_tokens) == (6, 6700, 1600)
    assert (total.output_tokens, total.reasoning_output_tokens) == (176, 49)


def test_a_sync_finds_conversations(tmp_path: Path) -> None:
    """One run with its project, model and status; its events are not sessions of their own."""
    home_with("resumed", tmp_path)
    home_with("model-error", tmp_path / "other").rename(tmp_path / ".openhands" / "conversations" / ("5" * 32))
    found = synced(tmp_path)
    assert (found["new"], found["left_out"]) == (2, {})
    runs = {run["status"]: run for run in listed(tmp_path)}
    finished, failed = runs["finished"], runs["failed"]
    assert (finished["agent"], finished["cwd"], finished["model"]) == (
        "openhands",
        "/home/user/proj",
        "openai/fake-model",
    )
    assert (finished["run_id"], finished["turns"]) == ("cdc83e18-daa4-45ac-a064-6513d78283da", 2)
    assert failed["status_reason"].endswith("fake internal error")


def test_a_subagent_is_a_source_of_the_run(tmp_path: Path) -> None:
    """Its conversation is kept below the one that asked for it, whose state repeats what it took."""
    folder = home_with("parity", tmp_path)
    events = list(convert(folder / "base_state.json"))
    (child,) = {event.source for event in events} - {"main"}
    origins = [event.origin for event in events if event.source == child and event.origin is not None]
    (call,) = [event.payload for event in events if event.type == "tool.call" and event.payload.name == "task"]
    assert {(origin.parent_source, origin.parent_call_id) for origin in origins} == {("main", call.call_id)}
    usages = [event.payload.message_id for event in events if event.type == "token.usage"]
    assert len(usages) == len(set(usages)) == 8
    found = synced(tmp_path)
    assert (found["new"], found["left_out"]) == (2, {})
    (run,) = listed(tmp_path)
    assert (run["subagents"], run["input_tokens"]) == (1, 8000)


def test_an_event_more_costs_an_archive_that_event(tmp_path: Path) -> None:
    """Events are written once, and kept once."""
    folder = home_with("resumed", tmp_path)
    synced(tmp_path)
    add(folder, 15, source="user", kind="MessageEvent", llm_message={"content": [{"type": "text", "text": "more"}]})
    found = synced(tmp_path)
    assert (found["grown"], found["events"]) == (1, 1)
    assert found["bytes_written"] < 1000


def test_tokens_that_come_later_are_told_once(tmp_path: Path) -> None:
    """The state is written behind the events: what an answer took is told when it is there."""
    folder = home_with("resumed", tmp_path)
    state = folder / "base_state.json"
    whole = state.read_text("utf-8")
    early = json.loads(whole)
    early["execution_status"] = "running"
    del early["stats"]["usage_to_metrics"]["agent"]["token_usages"][3:]
    state.write_text(json.dumps(early), "utf-8")
    synced(tmp_path)
    state.write_text(whole, "utf-8")
    synced(tmp_path)
    (run,) = listed(tmp_path)
    assert (run["input_tokens"], run["model_calls"], run["status"]) == (6700, 6, "finished")


@pytest.mark.parametrize("metrics", [{}, None, {"token_usages": None}, {"token_usages": [{"response_id": ["r"]}]}])
def test_a_state_without_tokens_is_read(metrics: Any, tmp_path: Path) -> None:
    """A part of OpenHands that asked no model may have no list of calls; the conversation is read all the same."""
    folder = home_with("resumed", tmp_path)
    state = folder / "base_state.json"
    whole = json.loads(state.read_text("utf-8"))
    whole["stats"]["usage_to_metrics"]["condenser"] = metrics
    state.write_text(json.dumps(whole), "utf-8")
    assert usage_totals(convert(state)).total.input_tokens == 6700


def test_a_file_of_one_event_is_known_by_itself(tmp_path: Path) -> None:
    """Its folder names the conversation."""
    folder = home_with("resumed", tmp_path)
    found = detect_file(sorted((folder / "events").iterdir())[1])
    assert found.spec is SPEC
    assert found.run_id == "cdc83e18-daa4-45ac-a064-6513d78283da"


@pytest.mark.parametrize(
    ("event", "error"),
    [
        ({"kind": "AgentErrorEvent", "tool_call_id": "c", "tool_name": "t", "error": "no such tool"}, "no such tool"),
        ({"kind": "UserRejectObservation", "tool_call_id": "c", "rejection_reason": "not now"}, "not now"),
        ({"kind": "UserRejectObservation", "action_id": "a"}, "failed"),
    ],
)
def test_a_call_that_was_refused_has_failed(event: dict[str, Any], error: str, tmp_path: Path) -> None:
    """By the agent, or by the user."""
    (result,) = told(home_with("resumed", tmp_path), **event)
    assert isinstance(result.payload, ToolPayload)
    assert result.payload.error == error


def test_events_of_the_harness_are_notes(tmp_path: Path) -> None:
    """A pause interrupts the run; a condensation is a compaction with its summary; an unknown kind is kept."""
    folder = home_with("resumed", tmp_path)
    (note,) = told(folder, kind="Condensation", forgotten_event_ids=["a", "b"], summary="All is well.")
    assert note.payload == SystemPayload(
        subtype="compaction", text="All is well.", data={"part": "summary", "forgotten": 2}
    )
    (unknown,) = told(folder, kind="NewEvent")
    assert unknown.type == "unknown"
    (error,) = told(folder, kind="ConversationErrorEvent", code="MaxIterationsReached", detail="too long")
    assert error.payload == ErrorPayload(message="too long", code="MaxIterationsReached")
    told(folder, kind="PauseEvent", source="user")
    synced(tmp_path)
    assert [run["status"] for run in listed(tmp_path)] == ["interrupted"]


def test_pictures_are_attachments(tmp_path: Path) -> None:
    """A part may hold several."""
    url = "data:image/png;base64,aGVsbG8="
    content = [{"type": "text", "text": "look"}, {"type": "image", "image_urls": [url, url]}]
    (said,) = told(home_with("resumed", tmp_path), kind="MessageEvent", source="user", llm_message={"content": content})
    assert [block.__class__.__name__ for block in said.payload.blocks] == ["TextBlock"] + ["AttachmentBlock"] * 2


@pytest.mark.parametrize(
    ("stamp", "moment"),
    [
        ("2026-11-16T13:24:49.489497+02:00", "2026-11-16T11:24:49.489497Z"),
        ("yesterday", "yesterday"),
        ("0001-01-01T00:00:00", "0001-01-01T00:00:00"),
        (None, None),
    ],
)
def test_a_time_is_the_moment_that_it_is(stamp: str | None, moment: str | None) -> None:
    """What is not a time, or not one that a calendar of this machine has, is given as it stands."""
    assert utc_of(stamp) == moment


def test_a_time_without_a_zone_is_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenHands writes local times, and its conversations are read where they were held."""
    assert utc_of("2026-11-16T13:24:49.489497") == "2026-11-16T13:24:49.489497Z"
    monkeypatch.setenv("TZ", "JST-9")
    time.tzset()
    try:
        assert utc_of("2026-11-16T13:24:49.489497") == "2026-11-16T04:24:49.489497Z"
    finally:
        monkeypatch.undo()
        time.tzset()
