"""A run in the shape that other formats need: whole messages with calls, results and usage, one thread per source.

Theory of operation. Every exporter needs the same joins, so they are all made here:

- Records of one assistant message are joined by `message_id`; without one, by adjacency up to the next user message or
  result of the same source.
- A call belongs to the message that holds its `tool_use` block, else to the open message of its source, else to a turn
  of its own, which no model said. `fold.calls` does the pairing: a router pair and an agent pair are one call.
- Usage of a model call belongs to the message it names, else to the last assistant message of its source. Of several
  reports of one call the last counts. Reports of a turn or of the whole run are never added to those of calls.
- The system prompt is not repeated as a text. A time that cannot be read as one is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from stenograph.fold.calls import CallPairs, PairState
from stenograph.fold.messages import is_message, merged_blocks
from stenograph.fold.usage import Usage, UsageCounter, usage_of
from stenograph.model.block import Block, ToolUseBlock
from stenograph.model.event import Event
from stenograph.model.moment import moment_of
from stenograph.model.payload import (
    TOOL_DEFINITIONS,
    LifecyclePayload,
    MessagePayload,
    SystemPayload,
    ToolPayload,
    UsagePayload,
)


class Call(Struct, frozen=True, kw_only=True):
    """One use of a tool with its answer."""

    seq: int
    call_id: str
    name: str
    input: Any
    kind: str | None = None
    namespace: str | None = None
    is_host: bool = False
    """Made by the program that ran the agent, not by a model: no message holds it."""
    at: str | None = None
    has_result: bool = False
    """False for an open call."""
    result_seq: int = 0
    output: Any = None
    error: str | None = None
    blocks: tuple[Block, ...] = ()
    """The blocks of the result, where it has media or several parts."""
    answered_at: str | None = None
    duration_ms: float | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The input as the object that most formats demand; anything else stands under `input`."""
        return self.input if isinstance(self.input, dict) else {"input": self.input}


class Turn(Struct, frozen=True, kw_only=True):
    """One message, whole, with the calls that it made."""

    seq: int
    role: str
    """`user` or `assistant`."""
    blocks: tuple[Block, ...]
    """In order; `tool_use` blocks mark the places of calls."""
    calls: tuple[Call, ...] = ()
    usages: tuple[UsagePayload, ...] = ()
    """One for each model call."""
    records: int = 1
    """The events that it was spread over; 0 for a turn that holds only calls of the host."""
    system_prompt: str | None = None
    message_id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    at: str | None = None
    ended_at: str | None = None

    @property
    def usage(self) -> Usage | None:
        """The tokens of its model calls together; None where none are known."""
        return sum((usage_of(each) for each in self.usages), Usage()) if self.usages else None


class Notice(Struct, frozen=True, kw_only=True):
    """An event that is not part of a message: a system event, an error, a result without a call, a step."""

    seq: int
    event: Event
    at: str | None = None


class Thread(Struct, frozen=True, kw_only=True):
    """What one source said and did, in order."""

    source: str
    items: tuple[Turn | Notice, ...]
    parent_source: str | None = None
    parent_call_id: str | None = None

    @property
    def turns(self) -> list[Turn]:
        """The messages alone."""
        return [item for item in self.items if isinstance(item, Turn)]


class Exchange(Struct, frozen=True, kw_only=True):
    """A run with its messages joined."""

    run_id: str
    parent_run_id: str | None = None
    session_id: str | None = None
    adapter: str = ""
    name: str | None = None
    """The run's own name or workflow, where it was recorded with one."""
    main: Thread
    subagents: tuple[Thread, ...] = ()
    tools: tuple[dict[str, Any], ...] | None = None
    """The last reported definitions; None where the source reports none."""
    usage: Usage
    """Each model call counted once."""
    loose_usage: tuple[tuple[int, UsagePayload], ...] = ()
    """Reports without a message: of turns, of the whole run, or before any message."""
    chunks: tuple[int, int] = (0, 0)
    """How many pieces of streamed replies there are, and where the first is."""
    untimed: tuple[int, int] = (0, 0)
    """How many events have a time that cannot be read, and which is the first."""
    lines: tuple[int, int] = (0, 0)
    """How many lines of the agent's file the run was read from, and where the first is."""

    @property
    def threads(self) -> tuple[Thread, ...]:
        """The main agent, then its subagents."""
        return (self.main, *self.subagents)

    @property
    def model(self) -> str | None:
        """The model that the main agent used last."""
        models = (turn.model for turn in reversed(self.main.turns) if turn.role == "assistant" and turn.model)
        return next(models, None)


def exchange(events: Iterable[Event]) -> Exchange:
    """Join the events of one run."""
    joiner = _Joiner()
    for place, event in enumerate(events, 1):
        joiner.add(event, event.seq or place)
    return joiner.exchange()


@dataclass(slots=True)
class _CallDraft:
    pair: PairState
    stray: Event | None = None
    """The result that came before its call."""
    is_host: bool = False
    block: ToolUseBlock | None = None
    """The `tool_use` block itself, where no event reports the call."""
    seq: int = 0


@dataclass(slots=True)
class _TurnDraft:
    seq: int
    role: str
    payloads: list[MessagePayload] = field(default_factory=list)
    calls: list[_CallDraft] = field(default_factory=list)
    usages: list[UsagePayload] = field(default_factory=list)
    at: str | None = None
    ended_at: str | None = None


@dataclass(slots=True)
class _ThreadDraft:
    source: str
    parent_source: str | None = None
    parent_call_id: str | None = None
    items: list[_TurnDraft | Notice | _CallDraft] = field(default_factory=list)
    by_id: dict[str, _TurnDraft] = field(default_factory=dict)
    open_turn: _TurnDraft | None = None
    """The assistant message that may still continue."""
    last_answer: _TurnDraft | None = None


@dataclass(slots=True)
class _Mark:
    """A call or result in its pair: the event, its number and its time."""

    event: Event
    seq: int
    at: str | None


class _Joiner:
    def __init__(self) -> None:
        self._threads: dict[str, _ThreadDraft] = {"main": _ThreadDraft("main")}
        self._pairs = CallPairs()
        self._calls: dict[int, _CallDraft] = {}
        """By the identity of their pairs, which `CallPairs` and the drafts keep alive."""
        self._requests: dict[str, list[tuple[_TurnDraft, ToolUseBlock, int]]] = {}
        """`tool_use` blocks whose call has not come yet, by id."""
        self._unasked: Counter[str] = Counter()
        """Calls whose `tool_use` block has not come yet, by id."""
        self._usage = UsageCounter()
        self._usages: dict[str, tuple[_TurnDraft | None, int]] = {}
        self._loose: dict[str, tuple[int, UsagePayload]] = {}
        self._facts: dict[str, Any] = {}
        self._counts = {"chunks": [0, 0], "untimed": [0, 0], "lines": [0, 0]}
        self._line: tuple[str | None, int | None] = (None, None)

    def add(self, event: Event, seq: int) -> None:
        thread = self._thread(event, seq)
        at = self._time(event, seq)
        payload = event.payload
        if isinstance(payload, MessagePayload) and event.type in ("message.user", "message.assistant"):
            self._message(thread, event, payload, seq, at)
        elif isinstance(payload, ToolPayload) and event.type in ("tool.call", "tool.result"):
            self._tool(thread, event, seq, at)
        elif isinstance(payload, UsagePayload) and event.type == "token.usage":
            self._usage.add(event)
            self._spend(thread, payload, seq)
        elif isinstance(payload, SystemPayload) and payload.subtype == TOOL_DEFINITIONS:
            self._define(payload)
        else:
            if event.type == "run.started" and isinstance(payload, LifecyclePayload):
                self._facts.setdefault("name", payload.name)
            thread.items.append(Notice(seq=seq, event=event, at=at))

    def _thread(self, event: Event, seq: int) -> _ThreadDraft:
        facts, origin = self._facts, event.origin
        facts.setdefault("run_id", event.run_id)
        if event.parent_run_id:
            facts.setdefault("parent_run_id", event.parent_run_id)
        thread = self._threads.get(event.source)
        if thread is None:
            thread = self._threads[event.source] = _ThreadDraft(event.source)
        if origin is None:
            return thread
        if origin.adapter:
            facts.setdefault("adapter", origin.adapter)
        if origin.session_id:
            facts.setdefault("session_id", origin.session_id)
        thread.parent_source = thread.parent_source or origin.parent_source
        thread.parent_call_id = thread.parent_call_id or origin.parent_call_id
        if origin.line is not None and (origin.file, origin.line) != self._line:
            self._line = (origin.file, origin.line)
            self._tick("lines", seq)
        return thread

    def _tick(self, name: str, seq: int) -> None:
        count = self._counts[name]
        count[0] += 1
        count[1] = count[1] or seq

    def _time(self, event: Event, seq: int) -> str | None:
        text = event.told_at
        if text and moment_of(text) is not None:
            return text
        if text:
            self._tick("untimed", seq)
        return None

    def _message(self, thread: _ThreadDraft, event: Event, payload: MessagePayload, seq: int, at: str | None) -> None:
        if not is_message(event):
            self._tick("chunks", seq)
            return
        role = "user" if event.type == "message.user" else "assistant"
        turn = self._turn_of(thread, payload, role)
        if turn is None:
            turn = _TurnDraft(seq, role, at=at)
            thread.items.append(turn)
            if payload.message_id:
                thread.by_id[role + payload.message_id] = turn
        known = {block.tool_id for each in turn.payloads for block in each.blocks if isinstance(block, ToolUseBlock)}
        turn.payloads.append(payload)
        turn.ended_at = at or turn.ended_at
        thread.open_turn = turn if role == "assistant" else None
        if role == "assistant":
            thread.last_answer = turn
        for block in payload.blocks:
            if not isinstance(block, ToolUseBlock) or (payload.replaces and block.tool_id in known):
                continue
            if self._unasked[block.tool_id]:
                self._unasked[block.tool_id] -= 1
            else:
                self._requests.setdefault(block.tool_id, []).append((turn, block, seq))

    def _turn_of(self, thread: _ThreadDraft, payload: MessagePayload, role: str) -> _TurnDraft | None:
        if payload.message_id:
            return thread.by_id.get(role + payload.message_id)
        turn = thread.open_turn
        if role == "user" or turn is None or not turn.payloads or turn.payloads[0].message_id:
            return None
        return turn

    def _tool(self, thread: _ThreadDraft, event: Event, seq: int, at: str | None) -> None:
        joined = self._pairs.add(event, _Mark(event, seq, at))
        if joined is None:
            return
        draft = self._calls.get(id(joined.pair))
        if draft is None:
            draft = self._calls[id(joined.pair)] = _CallDraft(joined.pair, seq=seq)
        if not joined.is_call:
            thread.open_turn = None
            if joined.begins:
                draft.stray = event
                thread.items.append(draft)
            return
        if joined.change.calls:
            self._place(thread, draft, event.payload.call_id, seq, at)

    def _place(self, thread: _ThreadDraft, draft: _CallDraft, call_id: str, seq: int, at: str | None) -> None:
        """Find the message that made a call."""
        requests = self._requests.get(call_id)
        if requests:
            requests.pop(0)[0].calls.append(draft)
            return
        self._unasked[call_id] += 1
        turn = thread.open_turn
        if turn is None:
            draft.is_host = True
            turn = _TurnDraft(seq, "assistant", at=at)
            thread.items.append(turn)
        turn.calls.append(draft)

    def _spend(self, thread: _ThreadDraft, payload: UsagePayload, seq: int) -> None:
        """Attach a usage report; a further report of the same call replaces the previous one."""
        key = payload.message_id or ""
        if payload.scope != "call":
            self._loose[f"{payload.scope} {key or (seq if payload.scope == 'turn' else '')}"] = (seq, payload)
            return
        known = self._usages.get(key) if key else None
        if known is not None:
            turn, place = known
            if turn is not None:
                turn.usages[place] = payload
            else:
                self._loose[f"call {key}"] = (self._loose[f"call {key}"][0], payload)
            return
        turn = thread.by_id.get("assistant" + key) if key else None
        turn = turn or thread.last_answer
        if key:
            self._usages[key] = (turn, len(turn.usages) if turn is not None else 0)
        if turn is not None:
            turn.usages.append(payload)
        else:
            self._loose[f"call {key or seq}"] = (seq, payload)

    def _define(self, payload: SystemPayload) -> None:
        tools = payload.data.get("tools") if isinstance(payload.data, dict) else None
        self._facts["tools"] = tuple(
            tool for tool in (tools if isinstance(tools, list) else ()) if isinstance(tool, dict) and tool.get("name")
        )

    def exchange(self) -> Exchange:
        for requests in self._requests.values():
            for turn, block, seq in requests:  # a request without a call event is the call
                pair = PairState(run_id="", source="", call_id=block.tool_id, name=block.tool_name)
                turn.calls.append(_CallDraft(pair, block=block, seq=seq))
        main, *others = [_thread(draft) for draft in self._threads.values()]
        facts: dict[str, Any] = {"run_id": "", **self._facts}
        facts |= {name: (count, first) for name, (count, first) in self._counts.items()}
        return Exchange(
            main=main,
            subagents=tuple(others),
            usage=self._usage.totals().total,
            loose_usage=tuple(self._loose.values()),
            **facts,
        )


def _thread(draft: _ThreadDraft) -> Thread:
    return Thread(
        source=draft.source,
        parent_source=draft.parent_source,
        parent_call_id=draft.parent_call_id,
        items=tuple(item for each in draft.items for item in _item(each)),
    )


def _item(draft: _TurnDraft | Notice | _CallDraft) -> Iterator[Turn | Notice]:
    if isinstance(draft, Notice):
        yield draft
    elif isinstance(draft, _TurnDraft):
        yield _turn(draft)
    elif not draft.pair.has_call and draft.pair.result is not None:
        mark: _Mark = draft.pair.result
        yield Notice(seq=mark.seq, event=mark.event, at=mark.at)


def _turn(draft: _TurnDraft) -> Turn:
    payloads = draft.payloads
    first = payloads[0] if payloads else None
    prompt = first.system_prompt if first is not None and draft.role == "user" else None
    blocks = merged_blocks(payloads)
    if first is not None and prompt is not None:
        blocks = first.said if len(payloads) == 1 else first.said + merged_blocks(payloads[1:])
    return Turn(
        seq=draft.seq,
        role=draft.role,
        blocks=blocks,
        calls=tuple(_call(each) for each in draft.calls),
        usages=tuple(draft.usages),
        records=len(payloads),
        system_prompt=prompt,
        message_id=None if first is None else first.message_id,
        model=next((each.model for each in payloads if each.model), None),
        stop_reason=next((each.stop_reason for each in reversed(payloads) if each.stop_reason), None),
        at=draft.at,
        ended_at=draft.ended_at,
    )


def _call(draft: _CallDraft) -> Call:
    pair, block = draft.pair, draft.block
    if block is not None:
        return Call(
            seq=draft.seq,
            call_id=block.tool_id,
            name=block.tool_name,
            input=block.tool_input,
            kind=block.kind,
            namespace=block.namespace,
        )
    call: _Mark = pair.call
    asked: ToolPayload = call.event.payload
    answer = {} if pair.result is None else _answer(pair.result)
    return Call(
        seq=call.seq,
        call_id=pair.call_id,
        name=pair.name,
        input=asked.input,
        kind=asked.kind,
        namespace=asked.namespace,
        is_host=draft.is_host,
        at=call.at,
        **answer,
    )


def _answer(mark: _Mark) -> dict[str, Any]:
    payload: ToolPayload = mark.event.payload
    return {
        "has_result": True,
        "result_seq": mark.seq,
        "output": payload.output,
        "error": payload.error,
        "blocks": payload.blocks or (),
        "answered_at": mark.at,
        "duration_ms": payload.duration_ms,
    }
