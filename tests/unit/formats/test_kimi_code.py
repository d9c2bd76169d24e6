"""kimi_code: what the golden cases show of totals, subagents and endings, and what they do not have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from golden_cases import FOLDER
from stenograph.fold.messages import messages
from stenograph.fold.status import RunStatus
from stenograph.fold.usage import usage_totals
from stenograph.formats.base import Context
from stenograph.formats.kimi_code import SPEC
from stenograph.model import AttachmentBlock, Event
from stenograph.sources.conversion import convert

RUN = "550e8400-e29b-41d4-a716-446655440000"


def _case(name: str) -> list[Event]:
    return list(convert(FOLDER / "kimi_code" / name / "input"))


def _events(*records: dict[str, Any]) -> list[Event]:
    parser = SPEC.open(Context(run_id=RUN))
    data = b"".join(json.dumps({"time": 1794834438997, **record}).encode() + b"\n" for record in records)
    return parser.feed(data) + parser.finish()


@pytest.mark.parametrize(
    ("case", "calls", "tokens"),
    [
        ("tools", 6, (6700, 1600, 176)),
        ("subagent", 4, (4200, 800, 112)),
        ("err400", 1, (1000, 0, 27)),
        ("interrupted", 1, (1000, 0, 27)),
    ],
)
def test_tokens_are_those_that_the_model_counted(case: str, calls: int, tokens: tuple[int, ...]) -> None:
    """Told three times and counted once, also of a step that was interrupted; the input includes what was cached."""
    total = usage_totals(_case(case)).total
    assert (total.records, total.input_tokens, total.cache_read_input_tokens, total.output_tokens) == (calls, *tokens)


@pytest.mark.parametrize(
    ("case", "status"), [("tools", "finished"), ("err400", "failed"), ("interrupted", "interrupted")]
)
def test_the_end_of_the_last_turn_is_the_status(case: str, status: str) -> None:
    """A model's error and a user's interruption are told apart."""
    found = RunStatus()
    for event in _case(case):
        found.add(event)
    assert found.verdict().status == status


def test_a_subagent_is_linked_to_the_call_that_spawned_it() -> None:
    """Its file stands beside the main one's folder, and the main one says which call it was."""
    child = [event for event in _case("subagent") if event.source == "subagent:agent-0"]
    assert child
    assert {(each.origin.parent_source, each.origin.parent_call_id) for each in child if each.origin} == {
        ("main", "call_0_0_bdeca4")
    }
    assert len({event.run_id for event in _case("subagent")}) == 1


def test_a_step_is_one_message_with_its_end() -> None:
    """Its parts and calls come on lines of their own, its stop reason at the end; the model is not the alias."""
    answers = [message for message in messages(_case("tools")) if message.role == "assistant"]
    assert [len(message.blocks) for message in answers[:4]] == [3, 3, 2, 2]
    assert [message.stop_reason for message in answers[:4]] == ["tool_use", "tool_use", "tool_use", "end_turn"]
    assert {message.model for message in answers} == {"fake-model"}


def test_images_are_attachments() -> None:
    """As a data URL in a prompt."""
    url = "data:image/png;base64,iVBORw0KGgo="
    message = {"role": "user", "content": [{"type": "image_url", "imageUrl": {"url": url}}], "origin": {"kind": "user"}}
    (event,) = _events({"type": "context.append_message", "message": message})
    assert isinstance(event.payload.blocks[0], AttachmentBlock)


def test_a_compaction_has_its_summary() -> None:
    """In any of the three shapes that its schema has."""
    for facts in ({"summary": "S", "compactedCount": 1}, {"contextSummary": "S", "compactedCount": 1},
                  {"summary": {"role": "user", "content": [{"type": "text", "text": "S"}]}, "count": 1}):  # fmt: skip
        (event,) = _events({"type": "context.apply_compaction", **facts})
        assert (event.payload.subtype, event.payload.text) == ("compaction", "S")


def test_a_copy_of_a_message_at_the_end_of_a_turn_says_nothing_new() -> None:
    """It is noted, and nothing is counted."""
    copy = {"message": {"role": "assistant", "content": [{"type": "text", "text": "x"}]}, "meta": {}}
    (event,) = _events({"type": "agent.message.appended", "kind": "event", "message": copy})
    assert (event.type, event.payload.subtype) == ("system.event", "repeated")
