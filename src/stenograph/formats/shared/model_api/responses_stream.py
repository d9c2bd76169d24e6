"""Streamed answers of the Responses API: the last event repeats the whole; deltas matter when it never comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stenograph.formats.shared.loose import a_dict, a_list, a_str

_LAST = ("response.completed", "response.failed", "response.incomplete", "response.cancelled")
_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_summary_text.delta": "summary",
    "response.reasoning_text.delta": "summary",
    "response.function_call_arguments.delta": "arguments",
    "response.mcp_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
    "response.code_interpreter_call_code.delta": "code",
}


class ResponseStream:
    """The answer that is under way."""

    def __init__(self, emit: Callable[[dict[str, Any]], None]) -> None:
        self._emit = emit
        self._response: dict[str, Any] | None = None
        self._items: dict[int, _Item] = {}

    def take(self, event: dict[str, Any]) -> None:
        """Add an event; the last one emits the answer."""
        kind = a_str(event.get("type"))
        response = event.get("response")
        if kind in _LAST:
            self._end(a_dict(response))
        elif isinstance(response, dict):
            if kind == "response.created":
                self.flush()
            self._response = response
        elif kind in ("response.output_item.added", "response.output_item.done"):
            item = a_dict(event.get("item"))
            self._item(event).item = item
            self._item(event).is_whole = kind.endswith(".done")
        elif kind in _DELTAS and a_str(event.get("delta")):
            self._item(event).pieces.setdefault(_DELTAS[kind], []).append(event["delta"])

    def flush(self) -> None:
        """Emit the answer as far as it was received."""
        if self._response is not None or self._items:
            # How it ended is unknown: the status that it began with is not a stop reason.
            began = self._response or {}
            self._end({**began, "status": None} if self._items else began)

    def _end(self, response: dict[str, Any]) -> None:
        """Emit the answer; some servers leave the output out of the last event, since its items came before."""
        items, self._items, self._response = self._items, {}, None
        if not a_list(response.get("output")):
            response = {**response, "output": [items[index].whole() for index in sorted(items)]}
        self._emit(response)

    def _item(self, event: dict[str, Any]) -> _Item:
        index = event.get("output_index")
        return self._items.setdefault(index if isinstance(index, int) else 0, _Item())


class _Item:
    """An output item that is being streamed."""

    def __init__(self) -> None:
        self.item: dict[str, Any] = {}
        self.is_whole = False
        self.pieces: dict[str, list[str]] = {}

    def whole(self) -> dict[str, Any]:
        """The item as in a whole answer; from its deltas when it was cut short."""
        if self.is_whole:
            return self.item
        item = dict(self.item)
        for name, pieces in self.pieces.items():
            text = "".join(pieces)
            if name == "text":
                item = {"type": "message", "role": "assistant", **item, "content": [{"type": "text", "text": text}]}
            elif name == "summary":
                item = {"type": "reasoning", **item, "summary": [{"type": "text", "text": text}]}
            else:
                item = {"type": "function_call", **item, name: text}
        return item
