"""A run explained by facts: what was asked, what changed, what failed, where time and tokens went, how it ended.

Theory of operation. One pass over the events. Calls are paired by `CallPairs`, totals come from `TotalsCounter`,
changes from `action`; this module has no counting rules of its own. So the parts add up: the calls of all tools,
and of all turns, are the calls of the run, and the tokens of all turns are its tokens.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from msgspec import Struct, to_builtins

from stenograph.fold.actions import Action, Change, action
from stenograph.fold.calls import CallPairs, PairState
from stenograph.fold.prices import Cost, Prices
from stenograph.fold.span import Span, SpanCounter
from stenograph.fold.status import Life, RunStatus, Verdict
from stenograph.fold.totals import Totals, TotalsCounter
from stenograph.fold.units import begins_unit
from stenograph.fold.usage import Usage, usage_of
from stenograph.model.block import TextBlock, words_of
from stenograph.model.event import Event
from stenograph.model.moment import milliseconds_of
from stenograph.model.payload import ErrorPayload, MessagePayload, ToolPayload, UsagePayload

_LONGEST_TEXT = 2_000
_LONGEST_TARGET = 300


class TurnFacts(Struct, frozen=True, kw_only=True):
    """One message to the main agent, and what followed from it."""

    number: int
    """1, 2, 3 …; 0 is what came before the first."""
    seq: int
    prompt: str
    span: Span
    calls: int
    errors: int
    usage: Usage
    cost_usd: float | None
    """The cost of everything that has a price; None when nothing has."""
    cost_is_partial: bool
    answer: str
    """The last text that the main agent said in it."""


class ToolFacts(Struct, frozen=True, kw_only=True):
    """All calls of one tool."""

    name: str
    calls: int
    failed: int
    open: int
    duration_ms: float
    """Of the calls whose duration is known."""
    result_chars: int


class FileFacts(Struct, frozen=True, kw_only=True):
    """All changes of one file, by calls that did not fail."""

    path: str
    changes: int
    added: int
    removed: int
    kinds: tuple[str, ...]


class Failure(Struct, frozen=True, kw_only=True):
    """Calls of one tool on one target that failed."""

    seq: int
    """Of the first one."""
    name: str
    target: str
    """The command, the path, or the beginning of the input."""
    error: str
    """Of the first one."""
    times: int
    fixed_at: int | None
    """The number of the first later call on the same target that did not fail; None where there is none."""


class ErrorFacts(Struct, frozen=True, kw_only=True):
    """An error event."""

    seq: int
    message: str


class Filling(Struct, frozen=True, kw_only=True):
    """What filled the context, in characters."""

    what: str
    """`prompts`, `answers`, or `calls of` and `results of` a tool."""
    chars: int


class Explanation(Struct, frozen=True, kw_only=True):
    """The facts of a run."""

    run_id: str
    totals: Totals
    span: Span
    cost_usd: float | None
    """The cost of everything that has a price; None when nothing has."""
    cost_is_partial: bool
    verdict: Verdict | None
    """None where only a part of the run was given."""
    turns: tuple[TurnFacts, ...]
    tools: tuple[ToolFacts, ...]
    """Those that took the most time first."""
    files: tuple[FileFacts, ...]
    """In the order of their first change."""
    failures: tuple[Failure, ...]
    errors: tuple[ErrorFacts, ...]
    """Error events."""
    context: tuple[Filling, ...]
    """The largest first."""
    largest_input: int
    """Tokens of the longest input of a model call that was reported."""
    answer: str
    """The last text that the main agent said."""


class CallFacts(Struct, frozen=True, kw_only=True):
    """The facts of one call by which two runs are compared."""

    seq: int
    turn: int
    """The place of its turn in `Explanation.turns`."""
    is_main: bool
    """Whether the main agent made the call; the ids of subagents differ in every run."""
    name: str
    target: str
    input: bytes
    """A digest of the whole input."""
    result: bytes | None
    """A digest of output and error; None without a result."""


class Explained(Struct, frozen=True, kw_only=True):
    """A run explained, with its calls one by one."""

    explanation: Explanation
    calls: tuple[CallFacts, ...]
    prompts: tuple[bytes, ...]
    """A digest of the whole prompt of each turn."""
    answers: tuple[bytes, ...]
    """A digest of the whole last answer of each turn."""
    files: dict[str, bytes]
    """By path, a digest of all its changes."""


class _Call(Struct, frozen=True):
    seq: int
    turn: int
    moment: int | None
    does: Action
    target: str
    key: bytes
    """A digest of source, tool and target: calls with the same key try the same thing."""
    input: bytes


class _Result(Struct, frozen=True):
    moment: int | None
    duration_ms: float | None
    chars: int
    content: bytes


class _Turn(Struct):
    number: int
    seq: int
    prompt: str
    span: SpanCounter
    calls: int = 0
    errors: int = 0
    answer: str = ""
    whole_prompt: bytes = b""
    whole_answer: bytes = b""


def explain(events: Iterable[Event], prices: Prices | None, life: Life | None = None) -> Explanation:
    """The facts of the events of one run; `life` is what is known of its process, None for a part of a run.

    Without prices, there are no costs.
    """
    return explained(events, prices, life).explanation


def explained(events: Iterable[Event], prices: Prices | None, life: Life | None = None) -> Explained:
    """The facts of the events of one run, and its calls one by one."""
    explaining = Explaining()
    for event in events:
        explaining.add(event)
    return explaining.explained(prices, life)


class Explaining:
    """Takes the events of one run, one by one."""

    def __init__(self) -> None:
        self._run_id = ""
        self._totals = TotalsCounter()
        self._span = SpanCounter()
        self._status = RunStatus()
        self._calls = CallPairs()
        self._pairs: list[PairState] = []
        self._turns: list[_Turn] = []
        self._turn_of: dict[int, int] = {}
        """The place of its turn by the `id()` of a usage payload; `TotalsCounter` keeps payloads that count alive."""
        self._filling: Counter[str] = Counter()
        self._errors: list[ErrorFacts] = []
        self._largest_input = 0

    def add(self, event: Event) -> None:
        """Take the next event."""
        self._run_id = self._run_id or event.run_id
        if not self._turns or begins_unit(event):
            number = self._turns[-1].number + 1 if self._turns else int(begins_unit(event))
            self._turns.append(_Turn(number, event.seq, "", SpanCounter()))
        turn = self._turns[-1]
        self._totals.add(event)
        self._status.add(event)
        self._span.add(event)
        turn.span.add(event)
        match event.payload:
            case MessagePayload() as payload:
                self._message(event, payload, turn)
            case ToolPayload() as payload:
                self._tool(event, payload, turn)
            case UsagePayload() as payload if event.type == "token.usage":
                self._turn_of[id(payload)] = len(self._turns) - 1
                if payload.scope == "call":
                    self._largest_input = max(self._largest_input, payload.input_tokens)
            case ErrorPayload() as payload if event.type == "error":
                turn.errors += 1
                self._errors.append(ErrorFacts(seq=event.seq, message=_cut(payload.message, _LONGEST_TEXT)))

    def _message(self, event: Event, payload: MessagePayload, turn: _Turn) -> None:
        if payload.is_chunk:
            return
        text = "\n".join(block.text for block in payload.said if isinstance(block, TextBlock))
        is_prompt = event.type == "message.user"
        self._filling["prompts" if is_prompt else "answers"] += sum(len(words_of(block)) for block in payload.blocks)
        if begins_unit(event):
            turn.prompt, turn.whole_prompt = _cut(text, _LONGEST_TEXT), _digest(text)
        elif event.source == "main" and not is_prompt and text.strip():
            turn.answer, turn.whole_answer = _cut(text, _LONGEST_TEXT), _digest(text)

    def _tool(self, event: Event, payload: ToolPayload, turn: _Turn) -> None:
        moment = milliseconds_of(event.told_at) if event.told_at else None
        if event.type == "tool.call":
            input_text = _json(payload.input)
            does = action(event)
            target = does.command or ", ".join(does.paths) or input_text
            key = _digest(event.source, payload.name, target)
            shown = _cut(target, _LONGEST_TARGET)
            mark: _Call | _Result = _Call(
                event.seq, len(self._turns) - 1, moment, _changes_only(does), shown, key, _digest(input_text)
            )
            filled = f"calls of {payload.name}", len(input_text)
        else:
            output = [_json(payload.output), *(words_of(block) for block in payload.blocks or ())]
            content = _digest(payload.error or "", *output)
            mark = _Result(moment, payload.duration_ms, sum(map(len, output)), content)
            filled = "", 0
        joined = self._calls.add(event, mark)
        if joined is None:
            return
        if joined.begins:
            self._pairs.append(joined.pair)
        turn.calls += joined.change.calls
        turn.errors += joined.change.errors
        if joined.counts and filled[0]:
            self._filling[filled[0]] += filled[1]

    def explained(self, prices: Prices | None, life: Life | None) -> Explained:
        """The facts so far, and the calls one by one."""
        return Explained(
            explanation=self.explanation(prices, life),
            calls=tuple(self.calls()),
            prompts=tuple(turn.whole_prompt for turn in self._turns),
            answers=tuple(turn.whole_answer for turn in self._turns),
            files={
                path: _digest(*(_json(to_builtins(change)) for change in changes))
                for path, changes in _changes(self._pairs).items()
            },
        )

    def calls(self) -> Iterator[CallFacts]:
        """The calls so far."""
        for pair in self._pairs:
            if pair.has_call:
                yield CallFacts(
                    seq=pair.call.seq,
                    turn=pair.call.turn,
                    is_main=pair.source == "main",
                    name=pair.name,
                    target=pair.call.target,
                    input=pair.call.input,
                    result=None if pair.result is None else pair.result.content,
                )

    def explanation(self, prices: Prices | None, life: Life | None) -> Explanation:
        """The facts so far."""
        usage = self._totals.usage
        reports: list[list[UsagePayload]] = [[] for _ in self._turns]
        for report in usage.counting():
            reports[self._turn_of[id(report)]].append(report)
        tools = _tools(self._pairs)
        filling = self._filling + Counter({f"results of {tool.name}": tool.result_chars for tool in tools})
        return Explanation(
            run_id=self._run_id,
            totals=self._totals.totals(),
            span=self._span.span,
            **_cost(usage.counting(), prices),
            verdict=None if life is None else self._status.verdict(life),
            turns=tuple(_turn(turn, found, prices) for turn, found in zip(self._turns, reports, strict=True)),
            tools=tuple(tools),
            files=tuple(_files(self._pairs)),
            failures=tuple(_failures(self._pairs)),
            errors=tuple(self._errors),
            context=tuple(
                Filling(what=what, chars=chars)
                for what, chars in sorted(filling.items(), key=lambda item: (-item[1], item[0]))
            ),
            largest_input=self._largest_input,
            answer=next((turn.answer for turn in reversed(self._turns) if turn.answer), ""),
        )


def _turn(turn: _Turn, reports: list[UsagePayload], prices: Prices | None) -> TurnFacts:
    usage = Usage()
    for report in reports:
        usage += usage_of(report)
    return TurnFacts(
        number=turn.number,
        seq=turn.seq,
        prompt=turn.prompt,
        span=turn.span.span,
        calls=turn.calls,
        errors=turn.errors,
        usage=usage,
        **_cost(reports, prices),
        answer=turn.answer,
    )


def _cost(reports: Iterable[UsagePayload], prices: Prices | None) -> dict[str, Any]:
    cost = Cost(None) if prices is None else prices.total(reports)
    dollars = None if cost.dollars is None else round(cost.dollars, 6)
    return {"cost_usd": dollars, "cost_is_partial": cost.is_partial}


def _tools(pairs: list[PairState]) -> list[ToolFacts]:
    """The facts of each tool. Pairs without a call are stray results, which count for no tool."""
    names: dict[str, list[PairState]] = {}
    for pair in pairs:
        if pair.has_call:
            names.setdefault(pair.name, []).append(pair)
    found = [
        ToolFacts(
            name=name,
            calls=sum(pair.counts.calls for pair in group),
            failed=sum(pair.counts.failed for pair in group),
            open=sum(pair.counts.open for pair in group),
            duration_ms=sum(_duration(pair) for pair in group),
            result_chars=sum(pair.result.chars for pair in group if pair.result is not None),
        )
        for name, group in names.items()
    ]
    return sorted(found, key=lambda tool: (-tool.duration_ms, -tool.calls, tool.name))


def _duration(pair: PairState) -> float:
    """The reported duration, else the time between call and result; 0 where neither is known."""
    result: _Result | None = pair.result
    if result is None:
        return 0.0
    if result.duration_ms is not None:
        return result.duration_ms
    began = pair.call.moment
    return 0.0 if began is None or result.moment is None else float(max(0, result.moment - began))


def _changes(pairs: list[PairState]) -> dict[str, list[Change]]:
    """The changes of each file, by calls that did not fail."""
    files: dict[str, list[Change]] = {}
    for pair in pairs:
        if pair.has_call and pair.error is None:
            for change in pair.call.does.changes:
                if change.path:
                    files.setdefault(change.path, []).append(change)
    return files


def _files(pairs: list[PairState]) -> Iterator[FileFacts]:
    for path, changes in _changes(pairs).items():
        lines = [change.lines for change in changes]
        yield FileFacts(
            path=path,
            changes=len(changes),
            added=sum(added for added, _ in lines),
            removed=sum(removed for _, removed in lines),
            kinds=tuple(dict.fromkeys(change.kind for change in changes)),
        )


def _failures(pairs: list[PairState]) -> list[Failure]:
    groups: dict[bytes, list[PairState]] = {}
    for pair in pairs:
        if pair.has_call:
            groups.setdefault(pair.call.key, []).append(pair)
    found = []
    for group in groups.values():
        failed = [pair for pair in group if pair.error is not None]
        if not failed:
            continue
        last = group.index(failed[-1])
        fixed = next((pair.call.seq for pair in group[last + 1 :] if pair.has_result), None)
        first = failed[0]
        found.append(
            Failure(
                seq=first.call.seq,
                name=first.name,
                target=first.call.target,
                error=_cut(first.error or "", _LONGEST_TEXT),
                times=len(failed),
                fixed_at=fixed,
            )
        )
    return sorted(found, key=lambda failure: failure.seq)


def _changes_only(does: Action) -> Action:
    """The action with only its changes, which are all that is needed at the end."""
    return does if does.changes else Action(kind=does.kind)


def _digest(*texts: str) -> bytes:
    return blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _json(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
