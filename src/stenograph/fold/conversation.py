"""A thread as a format of chat messages can hold it, with an account of what it cannot.

`ChatRules` says what the format holds; `conversation` leaves out the rest and counts every thing of the thread in the
loss report, carried or dropped. So an exporter only formats what it gets, and all exporters decide alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from stenograph.fold.exchange import Call, Exchange, Notice, Thread, Turn
from stenograph.fold.losses import LossReport
from stenograph.model.block import (
    AttachmentBlock,
    Block,
    CommandBlock,
    StreamBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from stenograph.model.payload import SystemPayload

OpenCalls = Literal["keep", "answer", "cut", "drop"]
NO_RESULT = "No result was recorded."
"""The answer of a call that was left open, where a format demands one."""
AttachmentPlace = Literal["user", "assistant", "result"]


def _holds(_block: Block) -> str | None:
    return None


def _holds_anywhere(_block: AttachmentBlock, _place: AttachmentPlace) -> str | None:
    return None


class ChatRules(Struct, frozen=True, kw_only=True):
    """What a format of chat messages can hold."""

    open_calls: OpenCalls = "keep"
    """`keep`: as they are; `answer`: with `NO_RESULT`; `drop`: without them; `cut`: as `drop`, and a conversation that
    ends with open calls ends before that message."""
    thinking: Callable[[ThinkingBlock], str | None] = _holds
    """Why a block of thinking cannot be held; None when it can."""
    attachments: Callable[[AttachmentBlock, AttachmentPlace], str | None] = _holds_anywhere
    """Why an attachment cannot be held in that place; None when it can."""
    notices: frozenset[str] = frozenset()
    """The kinds of notices that are held."""
    texts: bool = True
    """False where only the outline is wanted: texts, thinking, attachments and system prompts are left out."""
    usage: bool = False
    error_flags: bool = True
    """Whether a result can be marked as failed."""
    starts_with_user: bool = False
    every_system_prompt: bool = False
    """Whether a system prompt can stand anywhere; else only one, at the beginning."""
    any_output: bool = False
    """Whether a result can be anything but text."""
    any_input: bool = False
    """Whether the arguments of a call can be anything but an object."""
    joins_texts: bool = False
    """Whether the texts of a message become one, and its thinking, too."""
    block_order: bool = False
    """Whether texts after a call stay there."""


def kind_of(notice: Notice) -> str:
    """The name under which the loss report counts a notice."""
    if notice.event.type == "tool.result":
        return "results"
    if notice.event.type.startswith(("run.", "step.")):
        return "lifecycle events"
    return {"system.event": "system events", "error": "errors"}.get(notice.event.type, "unknown events")


def is_compaction(item: Turn | Notice) -> bool:
    """Whether the agent's context was replaced by a summary here."""
    payload = item.event.payload if isinstance(item, Notice) else None
    return isinstance(payload, SystemPayload) and payload.subtype == "compaction"


def contexts(thread: Thread) -> list[list[Turn | Notice]]:
    """The thread, cut where the agent's context was replaced, so that each part is what a model saw together.

    A summary becomes the user message that begins the next part.
    """
    parts: list[list[Turn | Notice]] = [[]]
    for item in thread.items:
        if not is_compaction(item):
            parts[-1].append(item)
            continue
        if any(isinstance(each, Turn) and not _is_summary(each) for each in parts[-1]):
            parts.append([])
        payload = item.event.payload  # type: ignore[union-attr]  # a compaction is a notice
        if payload.text and not (isinstance(payload.data, dict) and payload.data.get("part") == "boundary"):
            blocks = (TextBlock(fidelity="agent_emitted", text=payload.text),)
            parts[-1].append(Turn(seq=item.seq, role="user", blocks=blocks, records=0, at=item.at))
        else:
            parts[-1].append(item)
    return parts


def _is_summary(turn: Turn) -> bool:
    return turn.role == "user" and turn.records == 0


def account_for_run(exchange: Exchange, report: LossReport, *, totals: bool = False) -> None:
    """Count what no message format holds, and what is not part of a thread.

    `totals`: the format holds usage that belongs to no message.
    """
    lines, first = exchange.lines
    report.drop("raw lines", first, lines)
    report.drop("stream chunks", exchange.chunks[1], exchange.chunks[0])
    report.drop("timestamps", exchange.untimed[1], exchange.untimed[0])
    for seq, usage in exchange.loose_usage:
        if totals:
            report.carry("usage")
        else:
            report.drop("usage: of no message" if usage.scope == "call" else f"usage: scope {usage.scope}", seq)


def drop_part(items: Iterable[Turn | Notice], report: LossReport, reason: str) -> None:
    """Count a part of a thread that is left out."""
    for item in items:
        if isinstance(item, Notice):
            report.drop(f"{kind_of(item)}: {reason}", item.seq)
        elif _is_summary(item):
            report.drop(f"system events: {reason}", item.seq)
        else:
            _drop_turn(item, report, reason)


def _drop_turn(turn: Turn, report: LossReport, reason: str) -> None:
    if turn.records:
        report.drop(f"{turn.role} messages: {reason}", turn.seq)
    if turn.system_prompt is not None:
        report.drop(f"system prompts: {reason}", turn.seq)
    for block in turn.blocks:
        if (kind := block_kind(block)) is not None:
            report.drop(f"{kind}: {reason}", turn.seq)
    for call in turn.calls:
        _drop_call(call, report, reason)
    report.drop(f"usage: {reason}", turn.seq, len(turn.usages))


def _drop_call(call: Call, report: LossReport, reason: str) -> None:
    report.drop(f"calls: {reason}", call.seq)
    if call.has_result:
        report.drop(f"results: {reason}", call.result_seq)
        for block in call.blocks:
            if isinstance(block, AttachmentBlock):
                report.drop(f"attachments: {reason}", call.result_seq)


def block_kind(block: Block) -> str | None:
    """The name under which a block is counted; None for blocks that a call or a result represents."""
    match block:
        case TextBlock():
            return "texts"
        case ThinkingBlock():
            return "thinking"
        case AttachmentBlock():
            return "attachments"
        case CommandBlock():
            return "commands"
        case StreamBlock():
            return "stream chunks"
        case ToolUseBlock() | ToolResultBlock():
            return None
    return "other blocks"


def conversation(items: Iterable[Turn | Notice], report: LossReport, rules: ChatRules) -> list[Turn | Notice]:
    """The part of a thread's items that the format can hold, in order.

    The blocks of turns are texts, thinking and attachments; call ids are unique and not empty; system prompts that the
    format cannot hold are left out.
    """
    kept: list[Turn | Notice] = []
    waiting = list(_allowed(items, report, rules))
    if rules.open_calls == "cut":
        while waiting and isinstance(waiting[-1], Turn) and any(not call.has_result for call in waiting[-1].calls):
            _drop_turn(waiting.pop(), report, "left open at the end")  # type: ignore[arg-type]  # looked at above
    ids: dict[str, int] = {}
    prompt: str | None = None
    has_user = not rules.starts_with_user
    for item in waiting:
        if isinstance(item, Notice):
            report.carry(kind_of(item))
            kept.append(item)
            continue
        has_user = has_user or (item.role == "user" and _says_something(item, rules))
        if not has_user:
            _drop_turn(item, report, "before any user message")
            continue
        turn = _turn(item, report, rules, ids)
        if turn.system_prompt is not None and not rules.texts:
            report.drop("system prompts: left out", turn.seq)
            turn = replace(turn, system_prompt=None)
        elif turn.system_prompt is not None:
            if rules.every_system_prompt or prompt is None or prompt == turn.system_prompt:
                report.carry("system prompts")
                if prompt == turn.system_prompt and not rules.every_system_prompt:
                    turn = replace(turn, system_prompt=None)
            else:
                report.drop("system prompts: changed later", turn.seq)
                turn = replace(turn, system_prompt=None)
            prompt = prompt if prompt is not None else item.system_prompt
        is_outline = not rules.texts and turn.records > 0
        if turn.blocks or turn.calls or turn.system_prompt is not None or turn.usages or is_outline:
            kept.append(turn)
            if turn.records:
                report.carry(f"{turn.role} messages")
        elif turn.records:
            report.drop(f"{turn.role} messages: empty", turn.seq)
    return kept


def _allowed(items: Iterable[Turn | Notice], report: LossReport, rules: ChatRules) -> Iterator[Turn | Notice]:
    for item in items:
        if isinstance(item, Notice) and kind_of(item) not in rules.notices:
            kind = kind_of(item)
            report.drop(f"{kind}: without a call" if kind == "results" else kind, item.seq)
        else:
            yield item


def _says_something(turn: Turn, rules: ChatRules) -> bool:
    return any(
        (isinstance(block, TextBlock) and block.text.strip())
        or (isinstance(block, AttachmentBlock) and rules.attachments(block, "user") is None)
        for block in turn.blocks
    )


def _turn(turn: Turn, report: LossReport, rules: ChatRules, ids: dict[str, int]) -> Turn:
    if _is_summary(turn):
        report.carry("system events")
        return turn
    blocks = tuple(_blocks(turn, report, rules))
    if rules.joins_texts:
        for name, kind in (("texts", TextBlock), ("thinking", ThinkingBlock)):
            number = sum(isinstance(block, kind) for block in blocks)
            report.change(f"{name}: joined", turn.seq, max(0, number - 1))
    calls = () if turn.role == "user" else turn.calls
    for call in turn.calls[len(calls) :]:
        _drop_call(call, report, "in a user message")
    calls = tuple(each for call in calls for each in _call(call, report, rules, ids))
    if turn.records > 1:
        report.change("messages: records joined", turn.seq)
    if not rules.usage:
        report.drop("usage", turn.seq, len(turn.usages))
    else:
        report.carry("usage", len(turn.usages))
        report.change("usage: reports of one message added up", turn.seq, len(turn.usages) - 1 if turn.usages else 0)
    if not rules.block_order and _goes_on_after_call(turn.blocks):
        report.change("order of texts and calls", turn.seq)
    return replace(turn, blocks=blocks, calls=calls, usages=turn.usages if rules.usage else ())


def _goes_on_after_call(blocks: tuple[Block, ...]) -> bool:
    kinds = [isinstance(block, ToolUseBlock) for block in blocks if not isinstance(block, ToolResultBlock)]
    return any(is_call and not all(kinds[place:]) for place, is_call in enumerate(kinds))


def _blocks(turn: Turn, report: LossReport, rules: ChatRules) -> Iterator[Block]:
    for block in turn.blocks:
        kind = block_kind(block)
        if kind is None:
            continue
        reason: str | None
        match block:
            case TextBlock(text=text):
                reason = None if text.strip() else "empty"
            case ThinkingBlock():
                reason = rules.thinking(block) if turn.role != "user" else "in a user message"
            case AttachmentBlock():
                reason = rules.attachments(block, "user" if turn.role == "user" else "assistant")
            case _:
                reason = ""
        if reason is None and not rules.texts:
            reason = "left out"
        if reason is None:
            report.carry(kind)
            yield block
        else:
            report.drop(f"{kind}: {reason}" if reason else kind, turn.seq)


def _call(call: Call, report: LossReport, rules: ChatRules, ids: dict[str, int]) -> Iterator[Call]:
    if not call.has_result and rules.open_calls in ("drop", "cut"):
        _drop_call(call, report, "left open")
        return
    report.carry("calls")
    if not rules.any_input and not isinstance(call.input, dict):
        report.change("inputs made objects", call.seq)
    if call.has_result:
        report.carry("results")
        call = _answer(call, report, rules)
    elif rules.open_calls == "answer":
        report.change("open calls answered", call.seq)
        call = replace(call, has_result=True, result_seq=call.seq, output=NO_RESULT, error=NO_RESULT)
    yield replace(call, call_id=_unique(call, report, ids))


def _answer(call: Call, report: LossReport, rules: ChatRules) -> Call:
    seq = call.result_seq
    if not rules.any_output and call.output is not None and not isinstance(call.output, str):
        report.change("outputs made text", seq)
    if call.error is not None and not rules.error_flags:
        report.drop("error flags", seq)
    blocks = []
    for block in call.blocks:
        reason = rules.attachments(block, "result") if isinstance(block, AttachmentBlock) else None
        if reason is None and isinstance(block, AttachmentBlock) and not rules.texts:
            reason = "left out"
        if isinstance(block, AttachmentBlock):
            if reason is None:
                report.carry("attachments")
            else:
                report.drop(f"attachments: {reason}", seq)
        if reason is None:
            blocks.append(block)
    return replace(call, blocks=tuple(blocks))


def _unique(call: Call, report: LossReport, ids: dict[str, int]) -> str:
    """An id that no earlier call has."""
    wanted = call.call_id or f"call_{call.seq}"
    number = ids[wanted] = ids.get(wanted, 0) + 1
    if number == 1 and call.call_id:
        return wanted
    report.change("call ids", call.seq)
    unique = wanted if number == 1 else f"{wanted}-{number}"
    while number > 1 and unique in ids:
        number += 1
        unique = f"{wanted}-{number}"
    ids.setdefault(unique, 1)
    return unique
