"""gemini_stream: what `gemini --output-format stream-json` prints.

Theory of operation. Answers come in deltas that are never repeated whole: they are joined until something else is
printed, and then emitted at the place of the last one. Thoughts, usage per call and what subagents do are not printed;
the chat file has them (`gemini_cli`), under the same session.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.loose import a_dict, a_str, first_str, tokens
from stenograph.model.block import Block, TextBlock, ToolUseBlock
from stenograph.model.event import Origin
from stenograph.model.payload import ErrorPayload, MessagePayload, SystemPayload, ToolPayload, UsagePayload


class GeminiStreamFormat(LineFormat):
    """The stream of one process."""

    name = "gemini_stream"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._session_id = context.session_id
        self._model: str | None = None
        self._names: dict[str, str] = {}
        """Tools by the id of their call, until it is answered."""
        self._deltas: list[str] = []
        self._since: tuple[str, Origin | None] = ("", None)
        """The time of the first of these deltas, and the place of the last."""
        self._has_failed = False
        """Whether an error was printed; the result repeats it."""

    def _map(self, record: Any) -> None:
        value = record if isinstance(record, dict) else {}
        kind = value.get("type")
        if kind == "init" and self._session_id is None:
            self._session_id = first_str(value, "session_id")
        self._place(value.get("timestamp"), session_id=self._session_id)
        if kind == "message" and value.get("delta") is True and _said_by(value) == "assistant":
            self._delta(value["content"])
            return
        self._flush()
        map_line = _LINES.get(kind) if isinstance(kind, str) else None
        if map_line is None or (kind == "message" and _said_by(value) is None):
            self._unknown(record, kind)
        else:
            map_line(self, value)

    def _finish(self) -> None:
        self._flush()

    # Answers.

    def _delta(self, text: str) -> None:
        began = self._since[0] if self._deltas else self._timestamp
        self._deltas.append(text)
        self._since = (began, self._origin)
        self._accumulate()

    def _flush(self) -> None:
        """Emit the answer from the deltas so far."""
        if not self._deltas:
            return
        text, self._deltas = "".join(self._deltas), []
        here, raw, timestamp = self._origin, self._raw, self._timestamp
        self._raw = None
        self._timestamp, self._origin = self._since
        self.report.accumulated -= 1  # the last delta then counts as having an event
        self._say("assistant", TextBlock(fidelity="agent_emitted", text=text))
        self._origin, self._raw, self._timestamp = here, raw, timestamp

    def _say(self, role: str, block: Block) -> None:
        model = self._model if role == "assistant" else None
        self._emit(f"message.{role}", MessagePayload(role=role, blocks=(block,), model=model))

    # Lines.

    def _init(self, record: dict[str, Any]) -> None:
        self._model = first_str(record, "model")
        facts = {name: value for name, value in record.items() if name not in ("type", "timestamp")}
        self._system("init", data=facts or None)

    def _message(self, record: dict[str, Any]) -> None:
        self._say(record["role"], TextBlock(fidelity="agent_emitted", text=record["content"]))

    def _tool_use(self, record: dict[str, Any]) -> None:
        name, call_id = a_str(record.get("tool_name")), a_str(record.get("tool_id"))
        tool_input = record.get("parameters")
        self._names[call_id] = name
        block = ToolUseBlock(fidelity="agent_emitted", tool_name=name, tool_id=call_id, tool_input=tool_input)
        self._say("assistant", block)
        self._emit("tool.call", call_of(block))

    def _tool_result(self, record: dict[str, Any]) -> None:
        call_id, output = a_str(record.get("tool_id")), record.get("output")
        error = None
        if record.get("status") == "error":
            error = first_str(a_dict(record.get("error")), "message", "type") or a_str(output) or "The tool failed."
        result = ToolPayload(
            name=self._names.pop(call_id, ""),
            call_id=call_id,
            input=None,
            output=output,
            error=error,
            fidelity="agent_emitted",
        )
        self._emit("tool.result", result)

    def _error(self, record: dict[str, Any]) -> None:
        text = first_str(record, "message")
        if record.get("severity") == "warning":
            self._system("warning", text)
        else:
            self._has_failed = True
            self._emit("error", ErrorPayload(message=text or "Gemini CLI printed an error without words"))

    def _result(self, record: dict[str, Any]) -> None:
        """The end: its status, and the tokens of all models since the program began."""
        stats = a_dict(record.get("stats"))
        facts = {"status": record.get("status")}
        facts |= {name: stats[name] for name in ("duration_ms", "tool_calls") if name in stats}
        self._system("result", data={name: value for name, value in facts.items() if value is not None} or None)
        if record.get("status") == "error" and not self._has_failed:
            error = a_dict(record.get("error"))
            message = first_str(error, "message") or "Gemini CLI ended with an error"
            self._emit("error", ErrorPayload(message=message, code=first_str(error, "type")))
        self._has_failed = False
        for model, numbers in (a_dict(stats.get("models")) or {"": stats}).items():
            usage = _usage(a_dict(numbers), model or self._model)
            if usage is not None:
                self._emit("token.usage", usage)

    def _system(self, subtype: str, text: str | None = None, data: Any = None) -> None:
        self._emit("system.event", SystemPayload(subtype=subtype, text=text, data=data))


_LINES: dict[str, Callable[[GeminiStreamFormat, dict[str, Any]], None]] = {
    "init": GeminiStreamFormat._init,
    "message": GeminiStreamFormat._message,
    "tool_use": GeminiStreamFormat._tool_use,
    "tool_result": GeminiStreamFormat._tool_result,
    "error": GeminiStreamFormat._error,
    "result": GeminiStreamFormat._result,
}


def _said_by(record: dict[str, Any]) -> str | None:
    """The role of a message line; None when it has no text, or an unknown role."""
    role = record.get("role")
    is_known = role in ("user", "assistant") and isinstance(record.get("content"), str)
    return str(role) if is_known else None


def _usage(numbers: dict[str, Any], model: str | None) -> UsagePayload | None:
    """Tokens of a model; its thoughts are in the total only."""
    total, into, out, cached = (
        tokens(numbers.get(name)) for name in ("total_tokens", "input_tokens", "output_tokens", "cached")
    )
    if not into and not out:
        return None
    thoughts = max(0, (total or 0) - (into or 0) - (out or 0))
    return UsagePayload(
        scope="turn",
        input_tokens=into or 0,
        output_tokens=(out or 0) + thoughts,
        cache_read_input_tokens=cached,
        reasoning_output_tokens=thoughts,
        model=model,
    )
