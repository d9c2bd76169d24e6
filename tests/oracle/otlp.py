"""Counts what files of OTLP hold, naively: nothing but `json`, written from what each framework was seen to send.

A model call is an LLM span (OpenInference) or one of the operations chat and generate_content; what it says is the
output of its span. A conversation's first call may bring answers from before. Sums on agents' spans are left alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def _plain(value: Any) -> Any:
    if "arrayValue" in value:
        return [_plain(each) for each in value["arrayValue"].get("values", [])]
    if "kvlistValue" in value:
        return {pair["key"]: _plain(pair["value"]) for pair in value["kvlistValue"].get("values", [])}
    if "intValue" in value:
        return int(value["intValue"])
    return next(iter(value.values()), None)


def _spans(path: Path | str) -> list[dict[str, Any]]:
    found = {}
    for line in Path(path).read_text("utf-8").splitlines():
        for holder in json.loads(line).get("resourceSpans", []):
            for scoped in holder["scopeSpans"]:
                for span in scoped["spans"]:
                    span["facts"] = {pair["key"]: _plain(pair["value"]) for pair in span.get("attributes", [])}
                    found[span["traceId"], span["spanId"]] = span
    return sorted(found.values(), key=lambda span: (int(span["endTimeUnixNano"]), span["traceId"], span["spanId"]))


def count(path: Path | str) -> dict[str, Any]:
    """What one file holds, counted by hand."""
    text: list[str] = []
    thinking: list[str] = []
    into: dict[str, int] = {}
    out: dict[str, int] = {}
    cached: dict[str, int] = {}
    reasoned: dict[str, int] = {}
    begun: set[str] = set()
    lines = sum(bool(line.strip()) for line in Path(path).read_bytes().split(b"\n"))
    for span in _spans(path):
        facts = span["facts"]
        is_model = facts.get("gen_ai.operation.name") in ("chat", "generate_content")
        if not is_model and facts.get("openinference.span.kind") != "LLM":
            continue
        answer = facts.get("gen_ai.response.id", span["spanId"])
        given = facts.get("gen_ai.usage.input_tokens", facts.get("llm.token_count.prompt"))
        if given is not None:
            into[answer] = given
            out[answer] = facts.get("gen_ai.usage.output_tokens", facts.get("llm.token_count.completion"))
            cached[answer] = facts.get(
                "gen_ai.usage.cache_read.input_tokens", facts.get("llm.token_count.prompt_details.cache_read", 0)
            )
            reasoned[answer] = facts.get(
                "gen_ai.usage.reasoning.output_tokens",
                facts.get(
                    "gen_ai.usage.details.reasoning_tokens",
                    facts.get("llm.token_count.completion_details.reasoning", 0),
                ),
            )
        conversation = facts.get("gen_ai.conversation.id", facts.get("session.id", span["traceId"]))
        if conversation not in begun:
            begun.add(conversation)
            text += _said_before(facts)
        said, thought = _said(facts)
        text += said
        thinking += thought
    return {
        "text": "".join(text),
        "thinking": "".join(thinking),
        "input_tokens": into,
        "output_tokens": out,
        "cached_tokens": cached,
        "reasoning_tokens": reasoned,
        "lines": lines,
    }


def _said(facts: dict[str, Any]) -> tuple[list[str], list[str]]:
    said: list[str] = []
    thought: list[str] = []
    for message in json.loads(facts.get("gen_ai.output.messages", "[]")):
        said += [part["content"] for part in message["parts"] if part["type"] == "text"]
        thought += [part["content"] for part in message["parts"] if part["type"] == "thinking"]
    start = "llm.output_messages.0.message."
    texts = [facts[f"{start}content"]] if facts.get(f"{start}content") else []
    texts += [facts[key] for key in facts if key.startswith(f"{start}contents") and key.endswith(".text")]
    told = facts.get("output.value", "")
    told = json.loads(told) if told[:1] in ("[", "{") else None
    if isinstance(told, list) and told[0].get("reasoning_content"):
        thought.append(told[0]["reasoning_content"])
    if isinstance(told, dict) and "reasoning_content=" in str(told.get("raw")):
        thought += [each for each in texts if each != told["content"]]
        texts = [each for each in texts if each == told["content"]]
    return said + texts, thought


def _said_before(facts: dict[str, Any]) -> list[str]:
    """The answers in the history of a conversation's first call; only OpenInference's flat messages had any."""
    roles = {
        key.split(".")[2]: value
        for key, value in facts.items()
        if key.startswith("llm.input_messages") and key.endswith("role")
    }
    places = sorted(int(number) for number, role in roles.items() if role == "assistant")
    texts = (facts.get(f"llm.input_messages.{number}.message.content") for number in places)
    return [text for text in texts if text]
