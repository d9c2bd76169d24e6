"""Rows of Hermes' database, or an old session as one document, as events.

Theory of operation. Messages have the shape of the chat API. Tokens are counted by session and model, so each report is
the sum so far under both names: the last one counts. A message that was rewound or summarized is still emitted, and a
note says what happened to it.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.base import run_id_of
from stenograph.formats.hermes_agent.detection import is_document, subagent_of
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.loose import a_dict, a_str, a_time, dicts, first_str
from stenograph.formats.shared.message_format import MessageFormat, use_of
from stenograph.formats.shared.model_api.parts import blocks_of, plain_text, thinking_block
from stenograph.formats.shared.usage import UsageFields
from stenograph.model.block import Block

_USAGE = UsageFields(
    input=("input_tokens",),
    output=("output_tokens",),
    cache_read=("cache_read_tokens",),
    cache_write=("cache_write_tokens",),
    reasoning=("reasoning_tokens",),
    cost=("actual_cost_usd", "estimated_cost_usd"),
    input_has_cache=False,
)
_FACTS = ("id", "source", "model", "model_config", "cwd", "git_branch", "billing_provider", "user_id", "display_name")
_NO_FACTS = ("table", "session_id", "messages", "system_prompt", "tools")


class HermesFormat(MessageFormat):
    """One session of Hermes Agent."""

    name = "hermes_agent"

    def _map(self, record: Any) -> None:
        if is_document(record):
            self._document(record)
            return
        table = record.get("table") if isinstance(record, dict) else None
        if table == "sessions" and "grown" in record:
            self._grown(record)
        elif table == "sessions":
            self._session(record)
        elif table == "messages":
            self._message(record)
        elif table == "session_model_usage":
            self._model_usage(record)
        elif table == "async_delegations":
            self._delegation(record)

    # Sessions.

    def _session(self, row: dict[str, Any]) -> None:
        self._place(a_time(row.get("started_at")))
        facts = {name: row[name] for name in _FACTS if row.get(name) is not None}
        parent = first_str(row, "parent_session_id")
        if parent is not None and subagent_of(row) is None:
            facts |= {"parent_session_id": parent, "continues": run_id_of(self.name, parent)}
        self._emit_changes("session", facts, ", ".join(str(row[name]) for name in ("source", "model") if row.get(name)))
        self._prompted(row)

    def _prompted(self, row: dict[str, Any]) -> None:
        prompt = a_str(row.get("system_prompt"))
        if prompt and self._is_first("system_prompt", prompt):
            self._note("system_prompt", prompt)

    def _grown(self, row: dict[str, Any]) -> None:
        grown = a_dict(row.get("grown"))
        self._place(a_time(grown.get("ended_at")))
        self._emit_changes("session_state", grown, first_str(grown, "title", "end_reason"))
        if not self._reports_models():
            self._take(grown, a_str(row.get("id")), first_str(self._facts.get("session", {}), "model"))

    def _reports_models(self) -> bool:
        """Whether tokens were reported by model; older databases only have the session's sums."""
        return "models" in self._facts

    def _model_usage(self, row: dict[str, Any]) -> None:
        self._place(a_time(row.get("last_seen")))
        self._facts["models"] = {}
        names = [a_str(row.get(name)) for name in ("session_id", "model", "task", "billing_provider")]
        self._take(row, "/".join(name for name in names if name), first_str(row, "model"))

    def _take(self, counts: dict[str, Any], name: str, model: str | None) -> None:
        usage = _USAGE.read(counts, scope="turn", model=model, message_id=name)
        if usage is not None and (usage.input_tokens or usage.output_tokens):
            self._usage(usage)
        elif not self._out:
            self._note("usage", data=counts)

    def _delegation(self, row: dict[str, Any]) -> None:
        """Emit the state of a task that a subagent does in the background."""
        self._place(a_time(row.get("updated_at") or row.get("dispatched_at")))
        facts = {name: row.get(name) for name in ("delegation_id", "state", "delivery_state")}
        facts["result"] = a_dict(arguments_of(row.get("result_json")))
        self._emit_changes("delegation", facts, a_str(row.get("state")), of=a_str(row.get("delegation_id")))

    # Messages.

    def _message(self, row: dict[str, Any]) -> None:
        self._place(a_time(row.get("timestamp")))
        message_id = "" if row.get("id") is None else str(row["id"])
        is_first = self._is_first("message", message_id)
        if is_first:
            self._say(row, message_id)
        before = len(self._out)
        for subtype, is_so in (("rewound", row.get("active") == 0), ("compacted", row.get("compacted") == 1)):
            if is_so and self._is_first(subtype, message_id):
                self._note(subtype, data={"message_id": message_id})
        if len(self._out) == before and not is_first:
            self._note("repeated", data={"message_id": message_id})

    def _say(self, row: dict[str, Any], message_id: str) -> None:
        role, content = row.get("role"), row.get("content")
        if role == "user":
            self._user(_blocks(content), message_id or None)
        elif role == "assistant":
            self._said(row, message_id)
        elif role == "tool":
            output = arguments_of(content)
            error = first_str(output, "error") if isinstance(output, dict) else None
            self._result(a_str(row.get("tool_call_id")), output, name=a_str(row.get("tool_name")), error=error)
        elif isinstance(role, str):
            data = {name: value for name, value in row.items() if name not in ("table", "role", "content")}
            self._note(role, plain_text(content), data)

    def _said(self, row: dict[str, Any], message_id: str) -> None:
        thought = first_str(row, "reasoning_content", "reasoning")
        blocks: list[Block] = [thinking_block(thought)] if thought else []
        blocks += _blocks(row.get("content"))
        for call in dicts(arguments_of(row.get("tool_calls"))):
            function = a_dict(call.get("function"))
            arguments = arguments_of(function.get("arguments"))
            blocks.append(use_of(first_str(call, "id", "call_id") or "", a_str(function.get("name")), arguments))
        model = first_str(self._facts.get("session", {}), "model")
        self._answer(blocks, model=model, message_id=message_id or None, stop_reason=first_str(row, "finish_reason"))

    # An old session document.

    def _document(self, document: dict[str, Any]) -> None:
        """All of a session in one document; its messages have neither ids nor times."""
        self._place(first_str(document, "session_start"))
        facts = {name: value for name, value in document.items() if name not in _NO_FACTS}
        self._emit_changes("session", {"id": document["session_id"], **facts}, first_str(document, "platform"))
        self._prompted(document)
        self._define(document.get("tools"))
        for message in dicts(document["messages"]):
            self._place(first_str(message, "timestamp"))
            before = len(self._out)
            self._say(message, "")
            if len(self._out) == before:
                self._unknown(message, "message")


def _blocks(content: Any) -> list[Block]:
    """Words, or typed parts as JSON in a text."""
    parts = arguments_of(content)
    if isinstance(parts, list) and parts and all(isinstance(part, dict) and "type" in part for part in parts):
        return blocks_of(parts)
    return blocks_of(content)
