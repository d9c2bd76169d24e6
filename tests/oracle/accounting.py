"""Counts what model calls took and cost, naively: nothing but `json` and `sqlite3`, and a price function of its own.

Written from the facts of the formats (docs/formats) and from docs/reference/counting.md, not from the code. A call is
a dict with `model`, `input` (cached included), `output`, `read`, `written`, `hour`, `speed`, `tier`, `cost`.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_ENDS = (".jsonl", ".json", ".db", "")
Call = dict[str, Any]
Table = dict[str, dict[str, Any]]
_SUFFIX = re.compile(r"(\[\w+\]|[-@](20\d{6}|20\d\d-\d\d-\d\d|\d\d-\d{4}|latest|preview|exp|default|v\d+(:\d+)?))$")


def calls(format: str, path: Path) -> list[Call]:
    """The calls of a file or of a folder of files; of turns or totals where no calls are told."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return _READERS[format](
        [file for file in files if file.suffix in (".jsonl", ".json", ".db", "") and file.is_file()]
    )


def dollars(found: list[Call], table: Table) -> tuple[float, set[str]]:
    """What the calls cost, and the models without a price."""
    total, unpriced = 0.0, set()
    for call in found:
        price = _price(call["model"], table)
        if call["cost"]:
            total += call["cost"]
        elif price is None:
            unpriced.add(call["model"] or "")
        else:
            total += _cost(call, price)
    return total, unpriced


def _price(model: str | None, table: Table) -> dict[str, Any] | None:
    name = (model or "").lower().rpartition("/")[2]
    while name and name not in table:
        shorter = _SUFFIX.sub("", name)
        if shorter == name:
            return None
        name = shorter
    return table.get(name)


def _cost(call: Call, price: dict[str, Any]) -> float:
    rate = (price.get("tiers") or {}).get(call["tier"] or "", price)
    long = rate.get("long")
    if call["scope"] == "call" and long and call["input"] > long["above"]:
        rate = long
    written = rate.get("cache_write", rate["input"])
    spent = (call["input"] - call["read"] - call["written"]) * rate["input"]
    spent += call["read"] * rate.get("cache_read", rate["input"]) + (call["written"] - call["hour"]) * written
    spent += call["hour"] * rate.get("cache_write_1h", written) + call["output"] * rate["output"]
    return spent * (price.get("fast", 1) if call["speed"] == "fast" else 1) / 1e6


def _call(model: Any, into: Any, out: Any, read: Any = 0, written: Any = 0, **more: Any) -> Call:
    call = {"model": model, "input": into or 0, "output": out or 0, "read": read or 0, "written": written or 0}
    return {**call, "hour": 0, "speed": None, "tier": None, "cost": None, "scope": "call", **more}


def _records(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file: its lines, or the items of its array."""
    data = file.read_bytes()
    try:
        values = json.loads(data) if data.lstrip().startswith(b"[") else data.split(b"\n")
    except ValueError:
        values = data.split(b"\n")
    for value in values:
        try:
            record = json.loads(value) if isinstance(value, bytes) else value
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


# Anthropic: cached input beside the rest.


def _anthropic(usage: dict[str, Any], model: Any, **more: Any) -> Call:
    split = usage.get("cache_creation") or {}
    hour, read = split.get("ephemeral_1h_input_tokens") or 0, usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens")
    written = (split.get("ephemeral_5m_input_tokens") or 0) + hour if written is None else written
    terms = {"hour": hour, "speed": usage.get("speed"), "tier": usage.get("service_tier")}
    into = (usage.get("input_tokens") or 0) + read + written
    return _call(model, into, usage.get("output_tokens"), read, written, **terms, **more)


def _claude_code(files: list[Path]) -> list[Call]:
    told: dict[Any, Call] = {}
    beside = [other for session in files for other in _subagents(session)]
    for file in dict.fromkeys([*files, *beside]):
        for number, record in enumerate(_records(file)):
            message = record.get("message")
            if record.get("type") != "assistant" or not isinstance(message, dict) or record.get("isApiErrorMessage"):
                continue
            if message.get("model") != "<synthetic>" and isinstance(message.get("usage"), dict):
                key = message.get("id") or (file, number)
                told[key] = _anthropic(message["usage"], message.get("model"), cost=record.get("costUSD"))
    return list(told.values())


def _subagents(session: Path) -> list[Path]:
    """Files below the session's own folder; until 2.0 beside it, where each line names the session."""
    found = list(session.with_suffix("").rglob("agent-*.jsonl"))
    if not session.name.startswith("agent-"):
        found += [each for each in session.parent.glob("agent-*.jsonl") if session.stem.encode() in each.read_bytes()]
    return sorted(found)


def _claude_stream(files: list[Path]) -> list[Call]:
    told: dict[Any, Call] = {}
    turns: list[Call] = []
    begun: dict[Any, dict[str, Any]] = {}
    spent = 0.0
    for record in _records(files[0]):
        message, event, who = record.get("message"), record.get("event") or {}, record.get("parent_tool_use_id")
        if record.get("type") == "assistant" and isinstance(message, dict) and message.get("usage"):
            if message.get("model") != "<synthetic>" and not record.get("error"):
                told[message["id"]] = _anthropic(message["usage"], message["model"])
        elif event.get("type") == "message_start":
            begun[who] = event["message"]
        elif event.get("type") == "message_delta" and who in begun and event.get("usage"):
            start = begun[who]
            start["usage"] = {**start["usage"], **{k: v for k, v in event["usage"].items() if v is not None}}
            told[start["id"]] = _anthropic(start["usage"], start["model"])
        elif record.get("type") == "result" and record.get("usage"):
            total = record.get("total_cost_usd") or 0.0
            turn = _anthropic(record["usage"], None, cost=round(total - spent, 9) or None, scope="turn")
            turns += [turn] if turn["input"] or turn["output"] else []
            spent = total
    return list(told.values()) or turns


# Codex: cached input inside.


def _codex(usage: dict[str, Any], model: Any, **more: Any) -> Call:
    cached = usage.get("cached_input_tokens"), usage.get("cache_write_input_tokens")
    return _call(model, usage.get("input_tokens"), usage.get("output_tokens"), *cached, **more)


def _codex_rollout(files: list[Path]) -> list[Call]:
    told: dict[Any, Call] = {}
    totals: list[Call] = []
    for file in files:
        own, last_total = _codex_file(file)
        told |= {key: call for key, call in own.items() if key not in told}
        totals += [last_total] if last_total is not None and not own else []
    return [*told.values(), *totals]


def _codex_file(file: Path) -> tuple[dict[Any, Call], Call | None]:
    told: dict[Any, Call] = {}
    model = turn = thread = tier = seen = total = None
    has_records = b'"token_usage_record"' in file.read_bytes()
    for number, record in enumerate(_records(file)):
        kind, payload = record.get("type"), record.get("payload")
        if not isinstance(payload, dict):
            continue
        if kind == "session_meta":
            thread = thread or payload.get("id")
            has_records |= payload.get("history_mode") == "paginated"
        elif kind == "turn_context":
            model, turn = payload.get("model") or model, payload.get("turn_id") or turn
        elif kind == "token_usage_record":
            key = payload.get("turn_id") or turn, payload["response_id"]
            told[key] = _codex(payload["usage"], model, tier=tier)
        elif kind == "event_msg" and payload.get("type") in ("task_started", "turn_started"):
            turn = payload.get("turn_id") or turn
        elif kind == "event_msg" and payload.get("type") == "thread_settings_applied":
            tier = payload["thread_settings"].get("service_tier")
        elif kind == "event_msg" and payload.get("type") == "token_count" and not has_records:
            info = payload.get("info") or {}
            new, last = info.get("total_token_usage"), info.get("last_token_usage")
            if (last if new is None else new) == seen:
                continue
            seen = last if new is None else new
            total = total if new is None else _codex(new, model, scope="total")
            if last and (last.get("input_tokens") or last.get("output_tokens")):
                key = (turn or thread, new["total_tokens"]) if new and "total_tokens" in new else (file, number)
                told[key] = _codex(last, model, tier=tier)
    return told, total


def _codex_exec(files: list[Path]) -> list[Call]:
    """Every turn tells the thread's total, the last one counts; before 0.43 in another shape."""
    last = model = None
    for record in _records(files[0]):
        model = model or record.get("model")
        info = (record.get("msg") or {}).get("info") if isinstance(record.get("msg"), dict) else None
        usage = record.get("usage") if record.get("type") == "turn.completed" else (info or {}).get("total_token_usage")
        last = usage or last
    return [_codex(last, model, scope="total")] if last else []


# OpenAI's three wordings, wherever an answer stands in a log.


def _openai(answer: dict[str, Any]) -> Call | None:
    usage = answer["usage"]
    into = usage.get("prompt_tokens", usage.get("input_tokens")) or 0
    out = usage.get("completion_tokens", usage.get("output_tokens")) or 0
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    read = details.get("cached_tokens")
    read = usage.get("cache_read_input_tokens", usage.get("prompt_cache_hit_tokens")) if read is None else read
    written = details.get("cache_creation_tokens", details.get("cache_write_tokens"))
    written = usage.get("cache_creation_input_tokens") if written is None else written
    terms = {"tier": answer.get("service_tier"), "cost": usage.get("cost")}
    return _call(answer.get("model"), into, out, read, written, **terms) if into or out else None


def _model_api(files: list[Path]) -> list[Call]:
    told: dict[Any, Call] = {}
    for file in files:
        values = list(_records(file))
        text = file.read_text()
        for answer in _answers(values or (text if "data:" in text else json.loads(text))):
            is_anthropic = answer.get("type") == "message" or "cache_creation" in answer["usage"]
            if answer.get("model") == "<synthetic>":
                continue
            call = _anthropic(answer["usage"], answer.get("model")) if is_anthropic else _openai(answer)
            if call is not None:
                told[answer.get("id") or len(told)] = call
    return list(told.values())


def _answers(value: Any) -> Iterator[dict[str, Any]]:
    """Everything that has a usage, with the end of a stream put to its beginning."""
    if isinstance(value, str):
        lines = [line[5:].strip() for line in value.split("\n") if line.startswith("data:")] or [value]
        value = [found for line in lines if (found := _json(line)) is not None]
    if isinstance(value, list):
        begun: dict[str, Any] = {}
        for item in value:
            event = item if isinstance(item, dict) else {}
            event = event.get("data") if isinstance(event.get("data"), dict) else event
            if event.get("type") == "message_start":
                begun = event["message"]
                yield from _answers(begun)
            elif event.get("type") == "message_delta" and begun:
                usage = {name: count for name, count in (event.get("usage") or {}).items() if count is not None}
                begun["usage"] = {**begun["usage"], **usage}
                yield begun
            else:
                yield from _answers(item)
    elif isinstance(value, dict):
        usage = value.get("usage")
        if isinstance(usage, dict) and not {"input_tokens", "prompt_tokens"}.isdisjoint(usage):
            cost = {"cost": value["response_cost"]} if value.get("response_cost") else {}
            yield {**value, "usage": {**usage, **cost}}
        elif isinstance(value.get("chunks"), list):
            yield from _answers("".join(str(text) for chunk in value["chunks"] for text in _texts(chunk)))
        elif "response_cost" in value and isinstance(value.get("response"), dict):
            for answer in _answers(value["response"]):
                yield {**answer, "usage": {"cost": value["response_cost"], **answer["usage"]}}
        else:
            for item in value.values():
                yield from _answers(item)


def _json(line: str) -> Any:
    """What a line says; nothing when it is cut or no JSON."""
    try:
        return json.loads(line) if line.startswith("{") else None
    except ValueError:
        return None


def _texts(chunk: Any) -> list[str]:
    values = chunk.values() if isinstance(chunk, dict) else chunk if isinstance(chunk, list) else [chunk]
    return [value for value in values if isinstance(value, str)]


# The others.


def _copilot_cli(files: list[Path]) -> list[Call]:
    told, total = [], None
    for record in (record for file in files for record in _records(file)):
        data = record.get("data") or {}
        usage = data.get("usage") if record.get("type") == "session.usage_record" else None
        if isinstance(usage, dict) and ("inputTokens" in usage or "outputTokens" in usage):
            cached = usage.get("cacheReadTokens"), usage.get("cacheWriteTokens")
            told.append(_call(usage.get("model"), usage.get("inputTokens"), usage.get("outputTokens"), *cached))
        elif record.get("type") == "session.shutdown" and data.get("modelMetrics"):
            metrics = {model: each["usage"] for model, each in data["modelMetrics"].items() if each.get("usage")}
            sums = [
                sum(each.get(name) or 0 for each in metrics.values())
                for name in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
            ]
            model = next(iter(metrics)) if len(metrics) == 1 else None
            total = _call(model, *sums, scope="total") if metrics else total
    return told or ([total] if total else [])


def _gemini_cli(files: list[Path]) -> list[Call]:
    told: dict[Any, Call] = {}
    beside = [each for file in files for each in file.parent.glob(f"{file.stem.rpartition('-')[2]}*/*.jsonl")]
    for file in dict.fromkeys([*files, *sorted(beside)]):
        whole = json.loads(file.read_text()) if file.suffix == ".json" else None
        for record in whole["messages"] if whole else _records(file):
            tokens = record.get("tokens")
            if isinstance(tokens, dict) and record.get("type") == "gemini":
                into = (tokens.get("input") or 0) + (tokens.get("tool") or 0)
                out = (tokens.get("output") or 0) + (tokens.get("thoughts") or 0)
                told[record["id"]] = _call(record.get("model"), into, out, tokens.get("cached"))
    return list(told.values())


def _gemini_stream(files: list[Path]) -> list[Call]:
    told = []
    model = None
    for record in _records(files[0]):
        model = record.get("model") or model if record.get("type") == "init" else model
        if record.get("type") != "result" or not record.get("stats"):
            continue
        for name, stats in (record["stats"].get("models") or {"": record["stats"]}).items():
            into, out = stats.get("input_tokens") or 0, stats.get("output_tokens") or 0
            thoughts = max(0, (stats.get("total_tokens") or 0) - into - out)
            if into or out:
                told.append(_call(name or model, into, out + thoughts, stats.get("cached"), scope="turn"))
    return told


def _opencode_step(part: dict[str, Any], model: Any) -> Call:
    tokens = part["tokens"]
    read, written = tokens["cache"]["read"], tokens["cache"]["write"]
    out = tokens["output"] + (tokens.get("reasoning") or 0)
    return _call(model, tokens["input"] + read + written, out, read, written, cost=part.get("cost") or None)


def _opencode(files: list[Path]) -> list[Call]:
    """Rows as lines, or a database."""
    messages: dict[str, Any] = {}
    steps: dict[str, tuple[str, dict[str, Any]]] = {}
    for file in files:
        if file.suffix == ".db":
            with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
                messages |= {key: json.loads(data) for key, data in database.execute("SELECT id, data FROM message")}
                rows = database.execute("SELECT id, message_id, data FROM part").fetchall()
            steps |= {key: (message, json.loads(data)) for key, message, data in rows}
            continue
        for row in _records(file):
            data = row.get("data") or {}
            if row.get("table") == "event":
                inner = data.get("part") or data.get("info") or {}
                kind = "part" if "part" in data else "message" if "role" in inner else ""
                row = {"table": kind, "id": inner.get("id"), "message_id": inner.get("messageID")}
                data = inner
            if row["table"] == "message":
                messages[row["id"]] = data
            elif row["table"] == "part":
                steps[row["id"]] = (row["message_id"], {**data, "model": row.get("model")})
    told = []
    for message, part in steps.values():
        if part.get("type") == "step-finish" and part.get("tokens"):
            told.append(_opencode_step(part, messages.get(message, {}).get("modelID") or part.get("model")))
    return told


def _opencode_stream(files: list[Path]) -> list[Call]:
    parts = [record["part"] for record in _records(files[0]) if record.get("type") == "step_finish"]
    return [_opencode_step(part, None) for part in {part["id"]: part for part in parts}.values() if part.get("tokens")]


_READERS: dict[str, Callable[[list[Path]], list[Call]]] = {
    "anthropic_messages": _model_api,
    "claude_code": _claude_code,
    "claude_stream": _claude_stream,
    "codex_exec": _codex_exec,
    "codex_rollout": _codex_rollout,
    "copilot_cli": _copilot_cli,
    "gemini_cli": _gemini_cli,
    "gemini_stream": _gemini_stream,
    "openai_chat": _model_api,
    "openai_responses": _model_api,
    "opencode": _opencode,
    "opencode_stream": _opencode_stream,
}
FORMATS = tuple(_READERS)
"""Those that it reads. Copilot's stream tells no usage; ACP and Codex' app server tell sums of one connection."""
