"""A conversation in the form of the Responses API. Everything is sent each time: the service need not keep it."""

from __future__ import annotations

from typing import Any

from stenograph.adapters.evaluations.evaluation import Call
from stenograph.adapters.evaluations.tool_loop import Said
from stenograph.adapters.prompt import Prompt
from stenograph.adapters.tool import Tool

_LAST = ("response.completed", "response.failed", "response.incomplete")


class ResponsesWording:
    """A conversation in the form of the Responses API."""

    format_name = "openai_responses"
    path = "/responses"

    def __init__(self, prompt: Prompt, tools: dict[str, Tool], parameters: dict[str, Any]) -> None:
        """`parameters` are sent with every request and override ours."""
        self._parameters = parameters
        self._fixed: dict[str, Any] = {} if prompt.system is None else {"instructions": prompt.system}
        if tools:
            self._fixed["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                    "strict": False,  # strict schemas have no optional arguments
                }
                for tool in tools.values()
            ]
        self._input: list[dict[str, Any]] = [{"role": "user", "content": prompt.text}]

    def request(self) -> dict[str, Any]:
        """The parameters of the next call."""
        return {"input": list(self._input), **self._fixed, **self._parameters}

    def read(self, answer: dict[str, Any] | list[dict[str, Any]]) -> Said:
        """Every output item of an answer is an input item of the next request."""
        response = _end_of(answer) if isinstance(answer, list) else answer
        output = response.get("output") or []
        self._input += output
        calls = [
            Call(item.get("call_id") or item.get("id") or "", item.get("name") or "", item.get("arguments"))
            for item in output
            if item.get("type") == "function_call"
        ]
        return Said(_text(output), tuple(calls), _fault(response))

    def give(self, call: Call, text: str) -> None:
        """An output item for the call."""
        self._input.append({"type": "function_call_output", "call_id": call.id, "output": text})


def _end_of(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The whole response: the last event has it, except for items that some servers only send earlier."""
    last: dict[str, Any] = {}
    items = []
    for event in events:
        kind = event.get("type")
        if kind == "response.output_item.done":
            items.append(event.get("item") or {})
        elif kind == "error":
            last = {"error": event}
        elif kind in _LAST:
            last = event.get("response") or {}
    return {**last, "output": last.get("output") or items}


def _text(output: list[dict[str, Any]]) -> str:
    parts = [part for item in output if item.get("type") == "message" for part in item.get("content") or ()]
    return "".join(part.get("text") or part.get("refusal") or "" for part in parts)


def _fault(response: dict[str, Any]) -> str | None:
    error = response.get("error")
    if not error:
        return None
    return str(error.get("message") or error.get("code") or error) if isinstance(error, dict) else str(error)
