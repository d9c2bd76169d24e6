"""Counts what a Codex rollout holds, naively: one pass, nothing but `json`, written from the facts of the format.

Response items are counted, event messages are not (they say the same again), but for an answer or a thought that no
item says before the turn is over: its stream broke off. Codex says that a tool failed on a line of its own, before the
line with the output. Tokens are counted per answer (`token_usage_record`); files without such
records have `token_count`, which is news only when its total has moved.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_CALLS = {
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "tool_search_call",
    "web_search_call",
    "image_generation_call",
}
_ENDS = {"task_complete", "turn_complete", "turn_aborted", "user_message"}
_OUTPUTS = {"function_call_output", "custom_tool_call_output", "tool_search_output"}


def count(path: Path | str) -> dict[str, Any]:
    """What one file holds, counted by hand."""
    uses: list[str] = []
    results: list[str] = []
    failed: list[str] = []
    text: list[str] = []
    thinking: list[str] = []
    tokens: dict[str, int] = {}
    lines = 0

    thread = turn = search = None
    has_records = False
    total = None
    pending: list[tuple[list[str], str]] = []  # words of events, and where they go when no item says them

    def give_up() -> None:
        for words, said in pending:
            words.append(said)
        pending.clear()

    def say(words: list[str], parts: list[Any]) -> None:
        told = [part["text"] for part in parts]
        words += told
        whole = " ".join("\n".join(told).split())
        pending[:] = [each for each in pending if each[0] is not words or " ".join(each[1].split()) not in whole]

    broken: set[str] = set()  # calls whose end was reported as a failure, and whose output is still to come

    for number, line in enumerate(Path(path).read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        lines += 1
        try:
            record = json.loads(line)
            kind = record["type"]
            payload = record["payload"]
            payload["type"] = payload.get("type")
        except (ValueError, KeyError, TypeError, AttributeError):
            continue

        if kind == "session_meta" and thread is None:
            thread = payload.get("id")
            has_records = payload.get("history_mode") == "paginated"
        elif kind == "turn_context":
            turn = payload.get("turn_id") or turn
        elif kind == "token_usage_record":
            has_records = True
            name, of_turn = payload["response_id"], payload.get("turn_id") or turn
            is_number = len(name) < 16  # as scripted and local servers give; real ids are random and long
            tokens[f"{of_turn}:{name}" if is_number and of_turn else name] = payload["usage"]["output_tokens"]

        elif kind == "response_item" and payload["type"] in _CALLS:
            call = payload.get("call_id") or payload.get("id")
            if payload["type"] == "web_search_call":
                call, search = call or search or f"web_search_call_{number}", None
            broken.discard(call)
            uses.append(call)
            if payload["type"] == "image_generation_call" and payload.get("result"):
                results.append(call)
        elif kind == "response_item" and payload["type"] in _OUTPUTS:
            call = payload["call_id"]
            results.append(call)
            output = payload.get("output")
            if call in broken or (isinstance(output, dict) and output.get("success") is False):
                failed.append(call)
                broken.discard(call)
        elif kind == "response_item" and payload["type"] == "reasoning":
            say(thinking, (payload.get("summary") or []) + (payload.get("content") or []))
        elif kind == "response_item" and payload.get("role") == "assistant":
            if (record.get("metadata") or {}).get("compaction_output"):
                continue
            content = payload.get("content") or []
            say(text, [part for part in content if part["type"] in ("output_text", "text")])
            thinking += [part["text"] for part in content if part["type"] == "reasoning"]

        elif kind == "event_msg" and payload["type"] == "agent_message":
            if payload["message"] != "Compact task completed":
                pending.append((text, payload["message"]))
        elif kind == "event_msg" and payload["type"] == "agent_reasoning":
            pending.append((thinking, payload["text"]))
        elif kind == "event_msg" and payload["type"] in _ENDS:
            give_up()
        elif kind == "event_msg" and payload["type"] in ("task_started", "turn_started"):
            give_up()
            turn = payload.get("turn_id") or turn
        elif kind == "event_msg" and payload["type"] == "web_search_end":
            search = payload["call_id"]
        elif kind == "event_msg" and payload["type"] == "item_completed":
            item = payload["item"]
            if item["type"] == "WebSearch":
                search = item["id"]
            if item.get("status") in ("failed", "declined") or item.get("success") is False or item.get("error"):
                broken.add(item["id"])
        elif kind == "event_msg" and (payload["type"].endswith("_end") or payload["type"].endswith("_response")):
            result = payload.get("result")
            result = result if isinstance(result, dict) else {}
            if (
                payload.get("status") in ("failed", "declined")
                or payload.get("success") is False
                or payload.get("error")
                or "Err" in result
                or (result.get("Ok") or {}).get("isError")
            ):
                broken.add(payload["call_id"])
        elif kind == "event_msg" and payload["type"] == "token_count" and not has_records:
            info = payload.get("info") or {}
            news, last = info.get("total_token_usage"), info.get("last_token_usage") or {}
            if news and news != total:
                total = news
                is_news = last.get("input_tokens", 0) + last.get("output_tokens", 0) > 0
                if is_news and (thread or turn):  # else nothing names the answer
                    named = f"{turn}:" if turn and len(turn) == 36 else f"{thread}:{turn or ''}:"
                    tokens[f"{named}{news['total_tokens']}"] = last["output_tokens"]
        # A failure that is reported after the output comes too late: the next call may have the same id.
        broken &= set(uses)

    give_up()
    return {
        "tool_uses": list(dict.fromkeys(uses)),
        "tool_results": list(dict.fromkeys(results)),
        "failed_results": list(dict.fromkeys(failed)),
        "text": "".join(text),
        "thinking": "".join(thinking),
        "output_tokens": tokens,
        "lines": lines,
    }
