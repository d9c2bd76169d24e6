"""Training rows: one JSON object per line with `messages` and `tools`, as TRL and OpenAI's fine-tuning take them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stenograph.export.exporter import Exporter
from stenograph.export.wording import (
    function_tools,
    json_line,
    json_text,
    report_unknown_tools,
    result_text,
    text_of,
    thinking_of,
)
from stenograph.fold.conversation import AttachmentPlace, ChatRules, account_for_run, contexts, conversation, drop_part
from stenograph.fold.exchange import Call, Turn, exchange
from stenograph.fold.losses import LossReport
from stenograph.model.block import AttachmentBlock, ThinkingBlock
from stenograph.model.event import Event


def write(events: Iterable[Event], report: LossReport, *, arguments: str, reasoning: str, open: str) -> Iterator[bytes]:
    """One row for each source and context: a row holds what the model saw together."""
    run = exchange(events)
    account_for_run(run, report)
    tools = function_tools(run)
    if tools is None:
        report_unknown_tools((turn for thread in run.threads for turn in thread.turns), report)

    def thinking(block: ThinkingBlock) -> str | None:
        return "left out" if reasoning == "drop" else None if block.thinking else "encrypted"

    rules = ChatRules(
        open_calls="drop" if open == "drop" else "answer",
        thinking=thinking,
        attachments=_no_media,
        error_flags=False,
        joins_texts=True,
    )
    for thread in run.threads:
        if thread is not run.main:
            report.carry("subagents")
        for part in contexts(thread):
            if not any(isinstance(item, Turn) and item.role == "assistant" for item in part):
                drop_part(part, report, "in a row without an answer")
                continue
            turns = [item for item in conversation(part, report, rules) if isinstance(item, Turn)]
            messages = [each for turn in turns for each in _messages(turn, arguments, reasoning)]
            row: dict[str, Any] = {"messages": messages}
            if tools:
                row["tools"] = tools
            if messages:
                yield json_line(row)


def _no_media(_block: AttachmentBlock, _place: AttachmentPlace) -> str:
    return "rows are text"


def _messages(turn: Turn, arguments: str, reasoning: str) -> Iterator[dict[str, Any]]:
    if turn.system_prompt is not None:
        yield {"role": "system", "content": turn.system_prompt}
    content = text_of(turn.blocks)
    if turn.role == "user":
        if content or turn.system_prompt is None:
            yield {"role": "user", "content": content}
        return
    thoughts = thinking_of(turn.blocks)
    if thoughts and reasoning == "inline":
        content = f"<think>\n{thoughts}\n</think>\n\n{content}"
    said: dict[str, Any] = {"role": "assistant", "content": content}
    if thoughts and reasoning == "field":
        said["reasoning_content"] = thoughts
    if turn.calls:
        said["tool_calls"] = [_call(call, arguments) for call in turn.calls]
    yield said
    for call in turn.calls:
        yield {"role": "tool", "tool_call_id": call.call_id, "name": call.name, "content": result_text(call)}


def _call(call: Call, arguments: str) -> dict[str, Any]:
    value: Any = call.arguments if arguments == "object" else json_text(call.arguments)
    return {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": value}}


EXPORTER = Exporter(
    name="messages",
    what="training rows (messages and tools, JSONL): TRL, chat templates, OpenAI fine-tuning",
    suffix=".jsonl",
    write=write,
    options={
        "arguments": ("object", "string"),
        "reasoning": ("field", "inline", "drop"),
        "open": ("drop", "answer"),
    },
    is_lines=True,
)
