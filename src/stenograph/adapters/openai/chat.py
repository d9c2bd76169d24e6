"""A conversation in the form of Chat Completions, which LiteLLM also uses."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from stenograph.adapters.evaluations.evaluation import Call
from stenograph.adapters.evaluations.tool_loop import Said
from stenograph.adapters.openai.chunks import joined
from stenograph.adapters.prompt import Prompt
from stenograph.adapters.tool import Tool


class ChatWording:
    """A conversation in the form of Chat Completions."""

    format_name = "openai_chat"
    path = "/chat/completions"

    def __init__(self, prompt: Prompt, tools: dict[str, Tool], parameters: dict[str, Any]) -> None:
        """`parameters` are sent with every request and override ours."""
        self._parameters = parameters
        self._tools = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in tools.values()
        ]
        system = [] if prompt.system is None else [{"role": "system", "content": prompt.system}]
        self._messages: list[dict[str, Any]] = [*system, {"role": "user", "content": prompt.text}]

    def request(self) -> dict[str, Any]:
        """The parameters of the next call."""
        tools = {"tools": self._tools} if self._tools else {}
        return {"messages": list(self._messages), **tools, **self._parameters}

    def read(self, answer: dict[str, Any] | list[dict[str, Any]]) -> Said:
        """The first choice is the answer."""
        message = joined(answer) if isinstance(answer, list) else _first_message(answer)
        # Nulls are left out: they say nothing, and some servers refuse them.
        said = {
            "role": "assistant",
            "content": None,
            **{name: item for name, item in message.items() if item is not None},
        }
        self._messages.append(said)
        calls = [_call(item) for item in said.get("tool_calls") or ()]
        return Said(_text(said), tuple(call for call in calls if call is not None))

    def give(self, call: Call, text: str) -> None:
        """A message of the tool."""
        self._messages.append({"role": "tool", "tool_call_id": call.id, "content": text})


def _first_message(answer: dict[str, Any]) -> dict[str, Any]:
    choices = answer.get("choices") or [{}]
    message: dict[str, Any] = choices[0].get("message") or {}
    return message


def _call(item: dict[str, Any]) -> Call | None:
    """A call of a function; one without an id gets one, so that it can be answered."""
    function = item.get("function")
    if not isinstance(function, dict):
        return None
    item["id"] = item.get("id") or f"call_{uuid4().hex}"
    return Call(item["id"], function.get("name") or "", function.get("arguments"))


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or message.get("refusal") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content if isinstance(part, dict))
