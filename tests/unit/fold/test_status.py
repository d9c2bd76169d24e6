"""The status of a run: six words, by what it said last and by what is known of its process."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pytest

from golden_cases import CASES, name_of
from stenograph.fold.status import NOT_KNOWN, STATUSES, Life, RunStatus
from stenograph.model import (
    ErrorPayload,
    Event,
    LifecyclePayload,
    MessagePayload,
    Origin,
    SystemPayload,
    TextBlock,
    ToolPayload,
    ToolUseBlock,
    decode,
)

RECENT, OPEN = Life(is_recent=True), Life(has_process=True)
OTHER_THAN_FINISHED = {
    "acp/copilot-http-500": "failed",
    "aider/sessions": "unknown",
    "anthropic_messages/http_error": "failed",
    "anthropic_messages/sse": "unknown",
    "claude_code/2.1.197-midstream": "failed",
    "claude_code/2.1.325-api-down": "failed",
    "claude_stream/2.1.325-api-down": "failed",
    "claude_stream/2.1.325-killed": "unknown",
    "cline/interrupted": "failed",
    "cline/model-error": "failed",
    "cline_task/tags": "unknown",
    "codex_app_server/0.120-refused": "failed",
    "codex_app_server/0.166-context-length": "failed",
    "codex_app_server/0.166-disconnect-forever": "failed",
    "codex_app_server/0.63-failing-turn": "failed",
    "codex_exec/dropped-stream": "failed",
    "codex_exec/failed-request": "failed",
    "codex_exec/incomplete-answer": "failed",
    "codex_exec/interrupted": "unknown",
    "codex_exec/v0.42-failed-request": "failed",
    "codex_rollout/context-length": "failed",
    "codex_rollout/failed-request-legacy": "failed",
    "codex_rollout/subagent-v1": "interrupted",
    "codex_rollout/v0.42-failed-request": "unknown",
    "copilot_cli/http-500": "failed",
    "copilot_cli/killed": "unknown",
    "copilot_stream/http-500": "failed",
    "copilot_stream/killed": "unknown",
    "exchange/awf": "failed",
    "gemini_cli/http-400": "unknown",
    "gemini_cli/http-500": "unknown",
    "gemini_cli/killed": "unknown",
    "gemini_cli/startup-only": "unknown",
    "gemini_stream/http-400": "failed",
    "gemini_stream/http-500": "unknown",
    "gemini_stream/killed": "unknown",
    "gptme/err400": "unknown",
    "gptme/tools": "unknown",
    "hermes_agent/model-error": "unknown",
    "hermes_agent/subagent": "unknown",
    "kilo/err400": "unknown",
    "kimi_cli/err400": "failed",
    "kimi_cli/killed": "unknown",
    "kimi_code/err400": "failed",
    "kimi_code/interrupted": "interrupted",
    "langchain/lines": "unknown",
    "langchain/state": "unknown",
    "mini_swe_agent/err400": "failed",
    "mini_swe_agent/full": "failed",
    "openai_chat/abandoned": "unknown",
    "openai_chat/http_error": "failed",
    "openai_chat/litellm_callbacks": "unknown",
    "openai_chat/transport_tee": "unknown",
    "openai_chat/two_apis": "unknown",
    "openai_responses/cut_stream": "unknown",
    "openai_responses/http_error": "failed",
    "openclaw/err400": "failed",
    "opencode/compaction": "unknown",
    "opencode/http-500": "unknown",
    "opencode/interrupted": "unknown",
    "opencode/killed-early": "unknown",
    "opencode_stream/compaction": "unknown",
    "opencode_stream/interrupted": "unknown",
    "openhands/model-error": "failed",
    "openhands_v0/actions": "failed",
    "otlp/google_adk": "failed",
    "otlp/google_adk_semconv": "failed",
    "otlp/langchain": "failed",
    "otlp/openai_agents": "failed",
    "otlp/pydantic_ai": "failed",
    "otlp/smolagents": "failed",
    "pi/err400": "failed",
    "pi/sleep": "unknown",
    "qwen_code/err400": "failed",
    "qwen_code/err400-0.15": "failed",
    "qwen_code/sleep": "interrupted",
    "qwen_stream/err400": "failed",
    "qwen_stream/sleep": "unknown",
}
"""The worst status of the runs in each golden case whose agent was stopped, failed or asked for more."""


def event(type: str, payload: Any, adapter: str | None = None, source: str | None = None, path: str = "") -> Event:
    origin = Origin(adapter=adapter, source=source) if adapter or source else None
    return Event(seq=1, run_id="r", type=type, path=path, iteration=0, timestamp="", origin=origin, payload=payload)


def asked(text: str = "do it", **where: Any) -> Event:
    block = TextBlock(fidelity="agent_emitted", text=text)
    return event("message.user", MessagePayload(role="user", blocks=(block,)), **where)


def said(stop_reason: str | None = None, *, calling: bool = False, **where: Any) -> Event:
    use = ToolUseBlock(fidelity="agent_emitted", tool_name="Bash", tool_id="c", tool_input={})
    block = use if calling else TextBlock(fidelity="agent_emitted", text="done")
    return event(
        "message.assistant", MessagePayload(role="assistant", blocks=(block,), stop_reason=stop_reason), **where
    )


def tool(type: str, name: str = "Bash", call_id: str = "c", **where: Any) -> Event:
    return event(type, ToolPayload(name=name, call_id=call_id, input=None, output=None, fidelity="router"), **where)


def system(subtype: str, data: Any = None, **where: Any) -> Event:
    return event("system.event", SystemPayload(subtype=subtype, data=data), **where)


def lifecycle(type: str, error: str | None = None) -> Event:
    return event(type, LifecyclePayload(name="n", kind="workflow", error=error))


def status(*events: Event, life: Life = NOT_KNOWN) -> str:
    """Also after being stored and loaded at every event."""
    state = RunStatus()
    for each in events:
        state = msgspec.json.decode(msgspec.json.encode(state), type=RunStatus)
        state.add(each)
    verdict = state.verdict(life)
    assert verdict.status in STATUSES
    assert verdict.reason
    return verdict.status


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_every_agent_says_how_it_ended(case: Path) -> None:
    """Finished sessions of every agent are finished; the exceptions are those that really ended otherwise."""
    runs: dict[str, RunStatus] = defaultdict(RunStatus)
    for line in (case / "expected.jsonl").read_bytes().splitlines():
        each = decode(line)
        runs[each.run_id].add(each)
    found = {state.verdict().status for state in runs.values()}
    expected = OTHER_THAN_FINISHED.get(name_of(case), "finished")
    assert found - {"finished"} == ({expected} - {"finished"})


def test_running_needs_evidence() -> None:
    """A prompt without an end is running only while something shows that the run lives."""
    assert status(asked()) == "unknown"
    assert status(asked(), life=RECENT) == "running"
    assert status(asked(), said(calling=True), tool("tool.call"), life=OPEN) == "running"
    assert status() == status(life=RECENT) == "unknown"


def test_a_turn_that_ended_is_finished_or_waits_for_its_user() -> None:
    """A process that is there waits; a file that was written lately is no process."""
    assert status(asked(), said()) == "finished"
    assert status(asked(), said(), life=RECENT) == "finished"
    assert status(asked(), said(), life=OPEN) == "waiting"
    assert status(asked(), said("tool_use")) == "unknown"


def test_an_error_after_the_last_message_is_a_failure() -> None:
    """One before it was overcome."""
    error = event("error", ErrorPayload(message="overloaded"))
    assert status(asked(), said(), error) == "failed"
    assert status(asked(), error, said()) == "finished"


def test_an_open_question_waits() -> None:
    """Until it is answered, whatever else happens."""
    for name in ("AskUserQuestion", "ExitPlanMode"):
        question = tool("tool.call", name, adapter="claude_code")
        assert status(asked(), question) == "waiting"
        assert status(asked(), question, tool("tool.result", "", adapter="claude_code")) == "unknown"
    assert status(asked(), tool("tool.call", "Bash", adapter="claude_code")) == "unknown"
    permission = system("session/request_permission", adapter="acp")
    assert status(asked(), permission) == "waiting"
    assert status(asked(), permission, system("session/request_permission/response", adapter="acp")) == "unknown"


@pytest.mark.parametrize(
    "stop",
    [
        asked("[Request interrupted by user for tool use]", adapter="claude_code"),
        system("interrupted", adapter="claude_code"),
        system("turn_aborted", {"reason": "interrupted"}, adapter="codex_rollout"),
        system("turn/interrupt", adapter="codex_app_server"),
        system("abort", adapter="copilot_cli"),
        system("session/prompt/response", {"stopReason": "cancelled"}, adapter="acp"),
        event("error", ErrorPayload(message="stopped", code="MessageAbortedError"), adapter="opencode"),
    ],
)
def test_each_agent_says_in_its_own_way_that_it_was_interrupted(stop: Event) -> None:
    """And goes on when it is asked again; in another agent's words it means nothing."""
    adapter = stop.origin.adapter if stop.origin else None
    assert status(asked(adapter=adapter), stop) == status(asked(adapter=adapter), stop, life=OPEN) == "interrupted"
    assert status(asked(adapter=adapter), stop, asked(adapter=adapter), said(adapter=adapter)) == "finished"
    assert status(asked(), msgspec.structs.replace(stop, origin=None)) in ("unknown", "failed")


def test_an_end_after_an_interruption_or_error_does_not_hide_it() -> None:
    """Codex' server says `idle` after either."""
    idle = system("thread/status/changed", {"status": "idle"}, adapter="codex_app_server")
    assert status(asked(), system("turn/interrupt", adapter="codex_app_server"), idle) == "interrupted"
    assert status(asked(), event("error", ErrorPayload(message="no")), idle) == "failed"
    assert status(asked(), said(), idle) == "finished"


def test_an_answer_inside_an_announced_turn_is_not_its_end() -> None:
    """Codex goes on after an answer until it says that the task is complete."""
    begun = system("task_started", adapter="codex_rollout")
    assert status(begun, asked(), said()) == "unknown"
    assert status(begun, asked(), said(), system("task_complete", adapter="codex_rollout")) == "finished"


def test_a_turn_that_another_witness_announced_is_not_the_agent_s_own() -> None:
    """A printed session announces its turns; one that went on in the agent's file alone ends with its answer."""
    printed = [system("init", adapter="gemini_stream"), system("result", adapter="gemini_stream")]
    assert status(*printed, asked(), said(adapter="gemini_cli")) == "finished"


def test_a_workflow_ends_when_it_says_so() -> None:
    """What an agent inside it says is not the end of the workflow."""
    begun, ended = lifecycle("run.started"), lifecycle("run.completed")
    inside = said(adapter="claude_agent_sdk", path="review")
    assert status(begun) == status(begun, inside) == "unknown"
    assert status(begun, inside, life=OPEN) == "running"
    assert status(begun, inside, ended) == "finished"
    assert status(begun, lifecycle("run.completed", "boom")) == "failed"
    assert status(begun, ended, begun, life=RECENT) == "running"


def test_a_recorded_session_that_goes_on_without_us_ends_as_the_agent_says() -> None:
    """Our own lifecycle events say when we stopped recording, not when the agent did."""
    begun, ended = lifecycle("run.started"), lifecycle("run.completed")
    question, answer = asked(adapter="claude_code"), said("end_turn", adapter="claude_code")
    assert status(begun, question, answer) == "finished"
    assert status(begun, question, answer, ended, question) == "unknown"
    assert status(begun, question, answer, ended, question, answer) == "finished"


def test_subagents_do_not_decide() -> None:
    """Their errors and their ends are not those of the run."""
    theirs = {"source": "subagent:a", "adapter": "claude_code"}
    assert status(asked(), said(), event("error", ErrorPayload(message="no"), **theirs)) == "finished"
    assert status(asked(), said(**theirs)) == "unknown"
