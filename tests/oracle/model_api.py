"""Counts logs of calls to model APIs with nothing but `json`, on purpose naively.

A request repeats its conversation: the longest beginning that any earlier request had is old, and so is an assistant
message that an answer brought before. Everything is compared with everything, which is slow and easy to believe.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def count(path: Path, api: str) -> dict[str, Any]:
    """What one file holds: ids of calls and results, texts, tokens by message, non-empty lines."""
    counter = Counter(api)
    lines = [line for line in Path(path).read_bytes().split(b"\n") if line.strip()]
    for line in lines:
        if line.startswith(b"data:"):
            line = line[5:].strip()
        try:
            record = json.loads(line)
        except ValueError:
            continue
        counter.record(record)
    counter.cut_short()
    return {**counter.found, "text": "".join(counter.text), "thinking": "".join(counter.thinking), "lines": len(lines)}


def api_in(path: str) -> str | None:
    for end, api in (("chat/completions", "chat"), ("responses", "responses"), ("messages", "messages")):
        if path.split("?")[0].endswith(end):
            return api
    return None


class Counter:
    def __init__(self, api: str) -> None:
        self.api = api
        self.text: list[str] = []
        self.thinking: list[str] = []
        self.found: dict[str, Any] = {
            "tool_uses": [], "tool_results": [], "failed_results": [], "output_tokens": {},
        }  # fmt: skip
        self.asked: list[list[str]] = []
        self.answers: list[str] = []
        self.chunks: dict[str, dict[str, Any]] = {}
        self.blocks: dict[int, dict[str, Any]] = {}
        self.items: dict[int, dict[str, Any]] = {}
        self.message: dict[str, Any] = {}

    def record(self, record: Any) -> None:
        if not isinstance(record, dict):
            return
        api = api_in(record["path"]) if isinstance(record.get("path"), str) and "kind" in record else None
        if api and record["kind"] == "request":
            self.request(api, record["body"])
        elif api and record["kind"] == "response_sse":
            for event in record["events"]:
                self.event(api, event)
            self.cut_short()
        elif api and record["kind"] == "response":
            self.response(api, record["body"])
        elif isinstance(record.get("url"), str) and isinstance(record.get("chunks"), list):
            self.teed(record)
        elif "litellm_call_id" in record:
            self.request("chat", record)
            if record.get("status") == "success":
                answer = record["response"]
                counts = answer.get("usage") or {}
                is_unknown = not counts.get("prompt_tokens") and not counts.get("completion_tokens")
                # LiteLLM writes zeros for a stream whose tokens it was not told.
                self.response("chat", {**answer, "usage": None} if is_unknown else answer)
        else:
            self.bare(record)

    def teed(self, record: dict[str, Any]) -> None:
        """A call as a transport saw it: the request's body, and the text of the answer in pieces with their times."""
        api = api_in(record["url"])
        if api is None:
            return
        self.request(api, record["body"])
        text = "".join(piece for _, piece in record["chunks"])
        if not text.lstrip().startswith(("data:", "event:")):
            self.response(api, json.loads(text))
            return
        for line in text.split("\n"):
            data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
            if data and data != "[DONE]":
                self.event(api, json.loads(data))
        self.cut_short()

    def bare(self, record: dict[str, Any]) -> None:
        kind = str(record.get("type") or "")
        if "messages" in record or ("input" in record and not kind):
            self.request(self.api, record)
        elif record.get("object") == "chat.completion.chunk" or kind.startswith(("response.", "message_", "content_")):
            self.event(self.api, record)
        elif "choices" in record or "output" in record or (kind == "message" and "usage" in record):
            self.response(self.api, record)
        elif "role" in record:
            self.message_of(self.api, record)
        elif kind in ("tool_call", "function_call"):
            self.once("tool_uses", record.get("id") or record["function"]["name"])
        elif kind in ("tool_result", "function_result"):
            self.once("tool_results", record.get("id") or record["name"])

    def once(self, name: str, id: str) -> None:
        if id not in self.found[name]:
            self.found[name].append(id)

    def request(self, api: str, body: dict[str, Any]) -> None:
        items = body.get("input" if api == "responses" else "messages") or []
        if isinstance(items, str):
            items = [{"role": "user", "content": items}]
        items = [item for item in items if item.get("role") not in ("system", "developer")]
        keys = [self.key(item) for item in items]
        old = 0
        if not body.get("previous_response_id"):
            for before in self.asked:
                same = 0
                while same < min(len(before), len(keys)) and before[same] == keys[same]:
                    same += 1
                old = max(old, same)
            self.asked.append(keys)
        for item, key in list(zip(items, keys, strict=True))[old:]:
            if key in self.answers:
                self.answers.remove(key)
            else:
                self.message_of(api, item)

    def key(self, item: dict[str, Any]) -> str:
        """What an item says, blind to its spelling: ids where it has them, else its text."""
        if item.get("type") == "reasoning":
            return "reasoning " + item["id"]
        content = item.get("content")
        ids = [call.get("id") for call in item.get("tool_calls") or []]
        ids += [item.get("tool_call_id"), item.get("call_id")]
        text = content if isinstance(content, str) else ""
        for part in content if isinstance(content, list) else []:
            if part.get("type") not in ("thinking", "redacted_thinking"):
                ids += [part.get("id"), part.get("tool_use_id")]
                text += part.get("text") or ""
        return json.dumps([item.get("role") or item.get("type"), text.strip(), [name for name in ids if name]])

    def response(self, api: str, body: dict[str, Any]) -> None:
        if api == "chat":
            said = [choice["message"] for choice in body.get("choices") or []][:1]
        elif api == "responses":
            said = body.get("output") or []
        else:
            said = [body] if body.get("type") == "message" else []
        for item in said:
            self.message_of(api, {"role": "assistant", **item} if api == "chat" else item)
            self.answers.append(self.key({"role": "assistant", **item} if api == "chat" else item))
        usage = body.get("usage") or {}
        out = usage.get("completion_tokens", usage.get("output_tokens"))
        if out is not None and body.get("id"):
            self.found["output_tokens"][body["id"]] = out

    def message_of(self, api: str, item: dict[str, Any]) -> None:
        kind, role = str(item.get("type") or "message"), item.get("role")
        if api == "responses" and kind != "message":
            self.item(kind, item)
            return
        if role in ("tool", "function"):
            self.once("tool_results", item.get("tool_call_id") or item.get("name") or "")
        if role == "assistant":
            self.thinking.append(item.get("reasoning_content") or item.get("reasoning") or "")
            self.text.append(item["content"] if isinstance(item.get("content"), str) else "")
        for part in item["content"] if isinstance(item.get("content"), list) else []:
            self.part(part, role)
        self.text.append(item.get("refusal") or "")
        for call in item.get("tool_calls") or []:
            self.once("tool_uses", call["id"])
            if "output" in call:
                self.once("tool_results", call["id"])

    def part(self, part: dict[str, Any], role: Any) -> None:
        kind = part.get("type", "")
        if role == "assistant" and kind in ("text", "output_text", "refusal"):
            self.text.append(part.get("text") or part.get("refusal") or "")
        if kind == "thinking":
            self.thinking.append(part["thinking"])
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            self.once("tool_uses", part["id"])
        if kind.endswith("tool_result"):
            self.once("tool_results", part["tool_use_id"])
            if part.get("is_error"):
                self.once("failed_results", part["tool_use_id"])

    def item(self, kind: str, item: dict[str, Any]) -> None:
        if kind == "reasoning":
            self.thinking += [part["text"] for part in item.get("summary") or []]
        elif kind.endswith("_call"):
            self.once("tool_uses", item.get("call_id") or item["id"])
        elif kind.endswith("_call_output"):
            self.once("tool_results", item.get("call_id") or item["id"])

    # Streams: the pieces are put together, and what comes out is counted as an answer.

    def event(self, api: str, event: dict[str, Any]) -> None:
        if api == "chat":
            self.chunk(event)
        elif api == "responses":
            if event["type"] in ("response.completed", "response.incomplete", "response.failed"):
                self.items = {}
                self.response(api, event["response"])
            elif event["type"].startswith("response.output_item."):
                self.items[event["output_index"]] = event["item"]
        else:
            self.block(event)

    def chunk(self, chunk: dict[str, Any]) -> None:
        usage = chunk.get("usage") or {}
        if "completion_tokens" in usage:
            self.found["output_tokens"][chunk["id"]] = usage["completion_tokens"]
        for choice in chunk["choices"][:1]:
            empty: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": []}
            message = self.chunks.setdefault(chunk["id"], empty)
            delta = choice["delta"]
            message["content"] += delta.get("content") or ""
            message["reasoning_content"] += delta.get("reasoning_content") or ""
            message["tool_calls"] += [call for call in delta.get("tool_calls") or [] if call.get("id")]
            if choice.get("finish_reason"):
                del self.chunks[chunk["id"]]
                self.response("chat", {"choices": [{"message": message}]})

    def block(self, event: dict[str, Any]) -> None:
        if event["type"] == "message_start":
            self.message, self.blocks = event["message"], {}
        elif event["type"] == "content_block_start":
            self.blocks[event["index"]] = dict(event["content_block"])
        elif event["type"] == "content_block_delta":
            for name in ("text", "thinking"):
                if name in event["delta"]:
                    self.blocks[event["index"]][name] += event["delta"][name]
        elif event["type"] == "message_delta":
            self.message["usage"] = {**self.message.get("usage", {}), **event.get("usage", {})}
        elif event["type"] == "message_stop":
            message = {**self.message, "type": "message", "content": list(self.blocks.values())}
            self.message, self.blocks = {}, {}
            self.response("messages", message)

    def cut_short(self) -> None:
        """Streams that never ended say what they said."""
        for message in self.chunks.values():
            self.response("chat", {"choices": [{"message": message}]})
        self.chunks = {}
        items, self.items = self.items, {}
        for item in items.values():
            self.message_of("responses", item)
        if self.message or self.blocks:
            self.block({"type": "message_stop"})
