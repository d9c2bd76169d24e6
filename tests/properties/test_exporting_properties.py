"""Exports of any run: nothing is lost that the report does not name, and what is written satisfies its readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory
from hypothesis import given
from msgspec.structs import replace

from golden_cases import CASES, run_of, sampled
from stenograph.errors import InvalidTarget
from stenograph.export.exporter import Exporter, exporters
from stenograph.fold.losses import KINDS, LossReport
from stenograph.model import Event, MessagePayload
from stenograph.testing.run_counts import accounted, counted
from strategies import BRIEF, runs

EXPORTERS = exporters()


def exported(exporter: Exporter, events: list[Event], **options: str) -> tuple[bytes, LossReport]:
    """The main file and the report; an empty file for a run that the format cannot hold at all."""
    report = LossReport(exporter.name, exporter.version)
    try:
        return b"".join(each for each in exporter(events, report, **options) if isinstance(each, bytes)), report
    except InvalidTarget:
        return b"", report


def check_account(exporter: Exporter, events: list[Event], **options: str) -> bytes:
    """Compare a report with an independent count; which records are one answer is for the fold to say."""
    data, report = exported(exporter, events, **options)
    if data or not events:
        want, got = counted(events), accounted(report)
        kinds = [kind for kind in KINDS if kind != "assistant messages"]
        assert {kind: got[kind] for kind in kinds} == {kind: want[kind] for kind in kinds}
    return data


@pytest.mark.parametrize("case", sampled(CASES))
def test_every_real_transcript_is_accounted_for_in_every_format(case: Path) -> None:
    """Each text, thought, call, result, report of usage and event is carried or named as dropped, once."""
    events = run_of(case)
    for exporter in EXPORTERS.values():
        check_account(exporter, events)


@pytest.mark.parametrize("name", EXPORTERS)
@BRIEF
@given(runs(8))
def test_any_run_is_accounted_for(name: str, run: list[Event]) -> None:
    """Also with repeated, empty and missing ids, results before calls, and every other option."""
    events = [_without_replacing(event) for event in run]
    check_account(EXPORTERS[name], events)
    check_account(EXPORTERS[name], events, **{option: each[-1] for option, each in EXPORTERS[name].options.items()})


def _without_replacing(event: Event) -> Event:
    """Texts that are written anew stand for earlier ones, which no count by blocks can know."""
    payload = event.payload
    return replace(event, payload=replace(payload, replaces=None)) if isinstance(payload, MessagePayload) else event


@BRIEF
@given(runs(8))
def test_any_request_satisfies_what_the_apis_demand(run: list[Event]) -> None:
    """Calls are answered where the API wants it, ids are unique and in its characters, roles take turns."""
    for how in ("cut", "answer"):
        check_anthropic(json.loads(exported(EXPORTERS["anthropic"], run, open=how)[0]))
        check_chat(json.loads(exported(EXPORTERS["openai-chat"], run, open=how)[0])["messages"])
        check_responses(json.loads(exported(EXPORTERS["openai-responses"], run, open=how)[0])["input"])


@pytest.mark.parametrize("case", sampled(CASES))
def test_every_real_transcript_gives_requests_that_the_apis_take(case: Path) -> None:
    """The same, for what agents really wrote."""
    events = run_of(case)
    check_anthropic(json.loads(exported(EXPORTERS["anthropic"], events)[0]))
    check_chat(json.loads(exported(EXPORTERS["openai-chat"], events)[0])["messages"])
    check_responses(json.loads(exported(EXPORTERS["openai-responses"], events)[0])["input"])


def check_anthropic(request: dict[str, Any]) -> None:
    """The rules of the Messages API that its types do not show."""
    messages = request["messages"]
    assert request["model"]
    assert request["max_tokens"] > 0
    assert [message["role"] for message in messages] == [("user", "assistant")[n % 2] for n in range(len(messages))]
    seen: list[str] = []
    for place, message in enumerate(messages):
        content = message["content"]
        assert content
        assert all(block["text"].strip() for block in content if block["type"] == "text")
        assert all(block["signature"] for block in content if block["type"] == "thinking")
        calls = [block["id"] for block in content if block["type"] == "tool_use"]
        after = messages[place + 1]["content"] if place + 1 < len(messages) else []
        assert [block["tool_use_id"] for block in after[: len(calls)] if block["type"] == "tool_result"] == calls
        assert sum(block["type"] == "tool_result" for block in after) == len(calls)
        assert {block["name"] for block in content if block["type"] == "tool_use"} <= {
            tool["name"] for tool in request.get("tools", ())
        }
        seen += calls
    assert len(seen) == len(set(seen))
    assert all(each and all(sign.isascii() and (sign.isalnum() or sign in "_-") for sign in each) for each in seen)


def check_chat(messages: list[dict[str, Any]]) -> None:
    """Each call has one answer, directly after the message that made it."""
    waiting: list[str] = []
    seen: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert waiting.pop(0) == message["tool_call_id"]
            assert isinstance(message["content"], str)
            continue
        assert waiting == []
        for call in message.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            waiting.append(call["id"])
        seen += waiting
    assert waiting == []
    assert len(seen) == len(set(seen))


def check_responses(items: list[dict[str, Any]]) -> None:
    """Each call has one output of its kind after it, and no item has an id."""
    calls = [item["call_id"] for item in items if item["type"].endswith("_call")]
    outputs = [item["call_id"] for item in items if item["type"].endswith("_output")]
    assert calls == outputs
    assert len(calls) == len(set(calls))
    assert not any("id" in item for item in items)


@BRIEF
@given(runs(8))
def test_any_trajectory_is_valid(run: list[Event]) -> None:
    """By the models of the `atif` package, whatever the ids, times and payloads are."""
    data, _ = exported(EXPORTERS["atif"], run)
    if data:
        Trajectory.model_validate_json(data)
