"""A trajectory as events: from its history if there is one, else from its steps.

Theory of operation. SWE-agent writes a run twice: `history` is the conversation with the model (with ids of calls where
the model calls functions), `trajectory` the steps (thought, action, observation). The history is emitted; a
demonstration in it is a note, because it is not part of this run. What only a step has (its duration) goes with its
result. Without a history the steps are emitted: an answer with a call named by its place, and its observation.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.importing import ImportFormat
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str, milliseconds
from stenograph.formats.shared.model_api.chat import thoughts_of
from stenograph.formats.shared.model_api.parts import blocks_of, plain_text, text_block
from stenograph.formats.shared.usage import UsageFields
from stenograph.formats.swe_agent.detection import is_trajectory
from stenograph.model.block import Block

_STATS = UsageFields(input=("tokens_sent",), output=("tokens_received",), cost=("instance_cost", "total_cost"))
_SHELL = "bash"
"""The tool that runs an action that is a shell command."""


class SweAgentFormat(ImportFormat):
    """One trajectory."""

    name = "swe_agent"

    def _record(self, record: dict[str, Any]) -> None:
        if not is_trajectory(record):
            return
        self._place()
        info = a_dict(record.get("info"))
        facts = {name: value for name, value in record.items() if name not in ("trajectory", "history", "info")}
        self._note("trajectory", first_str(record, "environment"), facts)
        steps, history = dicts(record.get("trajectory")), dicts(record.get("history"))
        if history:
            self._history(history, steps)
        else:
            self._steps(steps)
        self._emit_system()
        self._usage(_STATS.read(info.get("model_stats"), scope="total"))
        if info:
            self._note("result", first_str(info, "exit_status"), info)

    # The conversation.

    def _history(self, history: list[dict[str, Any]], steps: list[dict[str, Any]]) -> None:
        durations = [milliseconds(step.get("execution_time")) for step in steps]
        called: list[str] = []
        number = 0
        for item in history:
            role, content = item.get("role"), item.get("content")
            if item.get("is_demo") is True or item.get("message_type") == "demonstration":
                self._note("demonstration", plain_text(content), item)
            elif role == "system":
                self._system_prompt(plain_text(content))
            elif role == "assistant":
                called = self._said(item)
            elif role == "tool" or (item.get("message_type") == "observation" and called):
                ids = [each for each in a_list(item.get("tool_call_ids")) if isinstance(each, str)] or called
                duration = durations[number] if number < len(durations) else None
                for place, call_id in enumerate(ids[:1] if called else ids):
                    self._result(call_id, content, duration_ms=duration if place == 0 else None)
                number += 1
                called = called[1:]
            elif role == "user":
                self._user(blocks_of(content))
            else:
                self._unknown(item, role)

    def _said(self, item: dict[str, Any]) -> list[str]:
        """An answer, and the ids of its calls; an action without a call of a function is a call of the shell."""
        blocks: list[Block] = [*thoughts_of(item), *blocks_of(item.get("content"))]
        calls = [self._called(call) for call in dicts(item.get("tool_calls"))]
        action = a_str(item.get("action"))
        if not calls and action.strip():
            calls = [self._use(None, _SHELL, {"command": action})]
        self._answer([*blocks, *calls])
        return [call.tool_id for call in calls]

    def _called(self, call: dict[str, Any]) -> Any:
        function = a_dict(call.get("function"))
        return self._use(call.get("id"), a_str(function.get("name")), arguments_of(function.get("arguments")))

    # The steps.

    def _steps(self, steps: list[dict[str, Any]]) -> None:
        for step in steps:
            said = a_str(step.get("response")) or a_str(step.get("thought"))
            action = a_str(step.get("action"))
            call = self._use(None, _SHELL, {"command": action}) if action.strip() else None
            self._answer([*([text_block(said)] if said else []), *([call] if call else [])])
            duration = milliseconds(step.get("execution_time"))
            if call is not None:
                self._result(call.tool_id, step.get("observation"), name=_SHELL, duration_ms=duration)
            elif step.get("observation"):
                self._note("observation", plain_text(step["observation"]))
