"""pi: what the captures' facts say, beyond what the golden cases hold."""

from __future__ import annotations

from typing import Any

import pytest

from golden_cases import FOLDER, run_of
from stenograph.export.exporter import exporter_named
from stenograph.fold.losses import LossReport
from stenograph.fold.status import RunStatus
from stenograph.fold.usage import usage_totals
from stenograph.formats.base import LIKELY, SURE, Context
from stenograph.formats.pi import SPEC
from stenograph.formats.pi.format import PiFormat
from stenograph.formats.registry import detect
from stenograph.model import AttachmentBlock, ErrorPayload, Event, SystemPayload, ToolPayload, UsagePayload

SESSION = "01a1e46b-f4fd-731d-aec0-386769b3805e"
HEADER = {"type": "session", "version": 3, "id": SESSION, "timestamp": "2026-11-17T08:00:00.000Z", "cwd": "/work"}


def _entry(id: str, parent: str | None, type: str = "message", **more: Any) -> dict[str, Any]:
    return {"type": type, "id": id, "parentId": parent, "timestamp": "2026-11-17T08:00:01.000Z", **more}


def _said(id: str, parent: str | None, text: str, **more: Any) -> dict[str, Any]:
    return _entry(id, parent, message={"role": "user", "content": text, **more})


def _parsed(*records: dict[str, Any]) -> list[Event]:
    parser = PiFormat(Context(run_id=SESSION))
    return [event for record in (HEADER, *records) for event in parser.feed_object(record)][1:]


def _notices(events: list[Event]) -> list[tuple[str, Any]]:
    return [(each.payload.subtype, each.payload.data) for each in events if isinstance(each.payload, SystemPayload)]


def test_tokens_are_those_that_the_model_counted() -> None:
    """The true counts, four calls and two of the resumed session: cached input is beside the rest in the file."""
    total = usage_totals(run_of(FOLDER / "pi" / "resume")).total
    assert (total.input_tokens, total.cache_read_input_tokens) == (4600 + 2100, 1200 + 400)
    assert (total.output_tokens, total.reasoning_output_tokens) == (120 + 56, 34 + 15)


def test_a_fork_names_its_origin_and_costs_only_what_is_new() -> None:
    """A copy has the ids and times of its original: over both files each call counts once."""
    resumed, forked = run_of(FOLDER / "pi" / "resume"), run_of(FOLDER / "pi" / "fork")
    assert forked[0].payload.data["forked_from"] == resumed[0].run_id
    assert SPEC.fork == ("session", "forked_from")
    alone, both = usage_totals(resumed).total, usage_totals([*resumed, *forked]).total
    assert (both.records, both.input_tokens) == (alone.records + 1, alone.input_tokens + 1000)


@pytest.mark.parametrize(("case", "status"), [("err400", "failed"), ("resume", "finished"), ("sleep", "unknown")])
def test_the_end_is_the_status(case: str, status: str) -> None:
    """An interrupt during a command leaves no trace: nothing says that the turn has ended."""
    found = RunStatus()
    for event in run_of(FOLDER / "pi" / case):
        found.add(event)
    assert found.verdict().status == status


def test_a_failure_is_an_error_for_each_try_and_costs_nothing() -> None:
    """Four empty answers with zeros are four errors, no messages and no reports of tokens."""
    events = run_of(FOLDER / "pi" / "err400")
    assert sum(isinstance(event.payload, ErrorPayload) for event in events) == 4
    assert sum(event.type == "message.assistant" for event in events) == 1
    assert sum(isinstance(event.payload, UsagePayload) for event in events) == 1


def test_an_answer_that_was_stopped_is_an_interrupt() -> None:
    """What was said until then is kept."""
    message = {"role": "assistant", "content": [{"type": "text", "text": "I be"}], "stopReason": "aborted"}
    events = _parsed(_said("a", None, "Go."), _entry("b", "a", message=message))
    status = RunStatus()
    for event in events:
        status.add(event)
    assert [event.type for event in events] == ["message.user", "message.assistant", "error"]
    assert status.verdict().status == "interrupted"


def test_a_branch_is_told_and_nothing_is_taken_back() -> None:
    """An entry that follows another one than the last begins a branch; one whose parent is unknown does not."""
    events = _parsed(
        _said("a", None, "one"), _said("b", "a", "two"), _said("c", "a", "three"), _said("d", "never there", "four"),
        _said("e", "d", "five"), _said("f", None, "from the beginning"),
    )  # fmt: skip
    assert _notices(events) == [("branch", {"parentId": "a", "left": "b"}), ("branch", {"left": "e"})]
    assert sum(event.type == "message.user" for event in events) == 6


def test_a_command_of_the_user_is_a_call_with_its_result() -> None:
    """A person's own command is no answer of the model; its exit code says whether it failed."""
    typed = {"role": "bashExecution", "command": "ls", "output": "x\n", "exitCode": 2, "cancelled": False}
    call, result = _parsed(_entry("a", None, message=typed))
    assert isinstance(call.payload, ToolPayload)
    assert isinstance(result.payload, ToolPayload)
    assert (call.payload.input, call.payload.call_id) == ({"command": "ls"}, "a")
    assert (result.payload.output, result.payload.error) == ("x\n", "Command exited with code 2")


def test_pictures_are_attachments() -> None:
    """In a prompt and in the result of a tool."""
    events = run_of(FOLDER / "pi" / "image")
    prompt = next(event.payload for event in events if event.type == "message.user")
    result = next(event.payload for event in events if event.type == "tool.result")
    for blocks in (prompt.blocks, result.blocks):
        assert [block.media_type for block in blocks if isinstance(block, AttachmentBlock)] == ["image/png"]


def test_calls_beside_the_answers_are_counted() -> None:
    """Summaries and other calls of the model have tokens of their own."""
    usage = {"input": 10, "output": 2, "cacheRead": 5, "cacheWrite": 1, "totalTokens": 18, "cost": {"total": 0.5}}
    events = _parsed(
        _entry("a", None, "compaction", summary="short", tokensBefore=900, firstKeptEntryId="x", usage=usage),
        _entry("b", "a", "branch_summary", summary="left", fromId="x", usage=usage),
        _entry("c", "b", "usage", kind="cache_warm", provider="p", model="m", usage=usage),
    )
    told = [event.payload for event in events if isinstance(event.payload, UsagePayload)]
    assert [(each.input_tokens, each.output_tokens, each.cost_usd) for each in told] == [(16, 2, 0.5)] * 3
    assert _notices(events)[0] == ("compaction", {"part": "summary", "pre_tokens": 900})


def test_a_fork_is_known_by_its_place() -> None:
    """The folder says which program wrote a file; OpenClaw's entries say it themselves."""
    paths = [
        "~/.pi/agent/sessions/x/y.jsonl",
        "~/.omp/agent/sessions/x/y.jsonl",
        "~/.openclaw/agents/a/sessions/y.jsonl",
    ]
    assert [SPEC.identify([HEADER], path).agent for path in paths] == [None, "oh-my-pi", "openclaw"]
    claws = _said("a", None, "Go.", __openclaw={"senderIsOwner": True})
    assert SPEC.identify([HEADER, claws], "").agent == "openclaw"


def test_a_newer_version_may_be_of_another_program() -> None:
    """And a stream that begins with the same line is not a session file."""
    entry = _said("a", None, "Go.")
    assert SPEC.detect([HEADER, entry], "") == SURE
    assert SPEC.detect([{**HEADER, "version": 4}, entry], "") == LIKELY
    assert SPEC.detect([HEADER, {"type": "agent_start"}, {"type": "turn_start"}], "") == 0


def test_a_session_that_was_exported_is_one() -> None:
    """What `steno export --to pi` writes is detected as a session, and nothing in it is unknown."""
    events = run_of(FOLDER / "pi" / "resume")
    data = b"".join(each for each in exporter_named("pi")(events, LossReport("pi")) if isinstance(each, bytes))
    assert detect(data) is SPEC
    parser = SPEC.open(Context(run_id=SESSION))
    back = parser.feed(data) + parser.finish()
    assert (parser.report.failed, parser.report.unknown_types) == (0, {})
    assert usage_totals(back).total.output_tokens == usage_totals(events).total.output_tokens
