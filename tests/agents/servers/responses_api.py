"""A fake Responses API (OpenAI): enough of it for Codex."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

from agents.servers.loopback import Reply
from agents.servers.script import Call, Part, Scripts, Text, Thinking, answer, marked

_AGENT_TOOLS = "multi_agent_v1"
"""Where the tools for subagents are when a request does not list them (they may be deferred)."""

_RUNNING = re.compile(r"Process running with session ID (\d+)")
"""What Codex answers of a command that takes longer than it waits, half a minute at most: the model asks again."""


class ResponsesApi:
    """Plays scripts; `answers` has every answer's id with its output tokens."""

    def __init__(self, scripts: Scripts) -> None:
        self.answers: dict[str, int] = {}
        self.input_tokens: Callable[[dict[str, Any]], int] = lambda body: 1000
        """How many tokens a request is said to have."""
        self._scripts = scripts
        self._numbers = itertools.count(1)

    def play(self, scripts: Scripts) -> None:
        """Takes more scripts."""
        self._scripts = {**self._scripts, **scripts}

    def __call__(self, path: str, body: dict[str, Any]) -> Reply:
        """The answer to one request."""
        if not path.endswith("/responses"):
            return {}
        name, step = _place(body["input"])
        running = _RUNNING.search(_output(body["input"][-1])) if body["input"] else None
        if running is not None:
            items = [_function("write_stdin", {"session_id": int(running[1]), "chars": "", "yield_time_ms": 30_000})]
        else:
            items = [_item(part, body) for part in answer(self._scripts, name, step)]
        tokens = 50 + next(self._numbers)
        response = {"id": f"resp_{uuid4().hex}", "object": "response", "model": body.get("model")}
        self.answers[response["id"]] = tokens
        given = self.input_tokens(body)
        usage = {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": 400},
            "output_tokens": tokens,
            "output_tokens_details": {"reasoning_tokens": 20},
            "total_tokens": given + tokens,
        }
        return _events(response, items, usage)


def _place(items: list[dict[str, Any]]) -> tuple[str | None, int]:
    """The script that the conversation plays, and how far it has come."""
    step = 0
    for item in reversed(items):
        if item["type"].endswith("_output"):
            step += _RUNNING.search(_output(item)) is None
        elif item.get("role") == "user" or item["type"] == "agent_message":
            # A task for a subagent of the second kind goes by the name of encrypted content.
            text = "".join(part.get("text") or part.get("encrypted_content") or "" for part in item["content"])
            if name := marked(text):
                return name, step
    return None, 0


def _output(item: dict[str, Any]) -> str:
    """What a tool gave, as text; empty for other items."""
    return json.dumps(item.get("output")) if item["type"].endswith("_output") else ""


def _item(part: Part, body: dict[str, Any]) -> dict[str, Any]:
    match part:
        case Text(text):
            content = [{"type": "output_text", "text": text, "annotations": []}]
            return {"id": _id("msg"), "type": "message", "role": "assistant", "status": "completed", "content": content}
        case Thinking(text):
            summary = [{"type": "summary_text", "text": text}]
            return {"id": _id("rs"), "type": "reasoning", "summary": summary, "encrypted_content": "RkFLRQ=="}
        case Call("shell", arguments):
            return _shell(arguments["command"], body)
        case Call("patch", arguments):
            if "apply_patch" in _tools(body):
                common = {"id": _id("ctc"), "type": "custom_tool_call", "status": "completed", "call_id": _id("call")}
                return {**common, "name": "apply_patch", "input": arguments["patch"]}
            return _shell(f"apply_patch <<'EOF'\n{arguments['patch']}EOF\n", body)
        case Call(name, arguments) if name.startswith("mcp__"):
            namespace, _, tool = name.rpartition("__")  # the tools of a server are a group of their own
            return _function(tool, dict(arguments), namespace=namespace)
        case Call(name, arguments):
            return _function(name, _with_agent(dict(arguments), body), namespace=_namespace(name, body))


def _shell(command: str, body: dict[str, Any]) -> dict[str, Any]:
    if "exec_command" in _tools(body):
        return _function("exec_command", {"cmd": command, "yield_time_ms": 30_000})
    return _function("shell", {"command": ["bash", "-lc", command], "timeout_ms": 600_000})


def _function(name: str, arguments: dict[str, Any], namespace: str | None = None) -> dict[str, Any]:
    call = {"id": _id("fc"), "type": "function_call", "status": "completed", "call_id": _id("call"), "name": name}
    call["arguments"] = json.dumps(arguments, ensure_ascii=False)
    return call if namespace is None else {**call, "namespace": namespace}


def _with_agent(arguments: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """`@agent` becomes the id of the subagent that the conversation started last."""
    told = re.findall(r'agent_id\\*":\s*\\*"([0-9a-f-]{36})', json.dumps(body["input"]))
    text = json.dumps(arguments)
    return json.loads(text.replace("@agent", told[-1])) if told else arguments


def _tools(body: dict[str, Any]) -> set[str]:
    return {tool.get("name", "") for tool in body.get("tools") or []}


def _namespace(name: str, body: dict[str, Any]) -> str | None:
    for tool in body.get("tools") or []:
        if tool.get("type") == "namespace" and name in {inner.get("name") for inner in tool.get("tools", [])}:
            return str(tool["name"])
    return _AGENT_TOOLS if name.endswith("_agent") and name not in _tools(body) else None


def _id(prefix: str) -> str:
    return f"{prefix}_{uuid4().hex}"


def _events(response: dict[str, Any], items: list[dict[str, Any]], usage: dict[str, Any]) -> Iterator[dict[str, Any]]:
    numbers = itertools.count()

    def event(type: str, **more: Any) -> dict[str, Any]:
        return {"type": type, "sequence_number": next(numbers), **more}

    yield event("response.created", response={**response, "status": "in_progress"})
    for index, item in enumerate(items):
        place = {"item_id": item["id"], "output_index": index}
        match item["type"]:
            case "message":
                text = item["content"][0]["text"]
                begun = {**item, "status": "in_progress", "content": []}
                yield event("response.output_item.added", output_index=index, item=begun)
                yield event("response.output_text.delta", **place, content_index=0, delta=text)
            case "reasoning":
                text = item["summary"][0]["text"]
                yield event("response.output_item.added", output_index=index, item={**item, "summary": []})
                part = {"type": "summary_text", "text": ""}
                yield event("response.reasoning_summary_part.added", **place, summary_index=0, part=part)
                yield event("response.reasoning_summary_text.delta", **place, summary_index=0, delta=text)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response={**response, "status": "completed", "output": [], "usage": usage})
