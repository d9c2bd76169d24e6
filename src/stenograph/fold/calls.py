"""Tool calls with their results: the only place that pairs them. Docs/reference/counting.md explains it to users.

Theory of operation. A call and its result share a `call_id` within a run. Events come one by one and in any order; each
joins a pair or begins one:

- An empty id names nothing: such a call or result is a pair of its own.
- The recorder (`router`) and the agent (`agent_emitted`) may both report one call. Then there is one pair, and the
  router's report counts.
- A reporter that uses an id again has called again: a call joins the oldest pair that this reporter has not reported
  the call of, else it begins a pair. So a call also finds a result that came before it.
- A result joins the newest pair that this reporter has not reported the result of. When all of them have one, it is the
  same answer once more: it joins the newest pair that has a call and changes nothing. Else it begins a pair and is
  stray until its call comes.

A pair with a call is one tool call. It is open without a result, and failed when the result that counts has an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from stenograph.model.event import Event
from stenograph.model.payload import ToolPayload

_CALL = {"agent_emitted": 1, "router": 2}
_RESULT = {"agent_emitted": 4, "router": 8}


class CallPair(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One use of a tool: what was asked and what came back."""

    run_id: str
    source: str
    call_id: str
    name: str
    call: Event | None = None
    """None for a stray result, whose call is not in the run."""
    result: Event | None = None
    """None for a call that was never answered: an open one."""

    @property
    def error(self) -> str | None:
        """Why it failed; None when it did not, or is not answered."""
        payload = None if self.result is None else self.result.payload
        return payload.error if isinstance(payload, ToolPayload) else None


class CallCounts(Struct, frozen=True):
    """How many calls there are, or by how much an event changes that."""

    calls: int = 0
    """Pairs with a call."""
    failed: int = 0
    """Calls whose result is an error."""
    open: int = 0
    """Calls without a result."""
    errors: int = 0
    """Results that are an error, those without a call included; each pair counts once."""

    def __add__(self, other: CallCounts) -> CallCounts:
        return CallCounts(
            self.calls + other.calls, self.failed + other.failed, self.open + other.open, self.errors + other.errors
        )


class PairState(Struct, kw_only=True, omit_defaults=True):
    """A pair while its events are still coming. It can be stored and loaded field by field."""

    run_id: str
    source: str
    """Of the first reported call; of the result, while there is no call."""
    call_id: str
    name: str = ""
    call: Any = None
    """The mark (see `CallPairs.add`) of the call that counts."""
    result: Any = None
    """The mark of the result that counts."""
    error: str | None = None
    witnesses: int = 0
    """Who reported what, as bits."""

    @property
    def has_call(self) -> bool:
        """Whether a call was reported."""
        return bool(self.witnesses & 3)

    @property
    def has_result(self) -> bool:
        """Whether a result was reported."""
        return bool(self.witnesses & 12)

    @property
    def counts(self) -> CallCounts:
        """What the pair adds to a sum."""
        return _COUNTS[self.state]

    @property
    def state(self) -> int:
        """Whether there are a call, a result and an error, as bits."""
        witnesses = self.witnesses
        return bool(witnesses & 3) + 2 * bool(witnesses & 12) + 4 * (self.error is not None)


def _counts(state: int) -> CallCounts:
    is_call, is_answered, is_error = bool(state & 1), bool(state & 2), bool(state & 4)
    return CallCounts(int(is_call), int(is_call and is_error), int(is_call and not is_answered), int(is_error))


def _difference(after: CallCounts, before: CallCounts) -> CallCounts:
    return CallCounts(
        after.calls - before.calls, after.failed - before.failed, after.open - before.open, after.errors - before.errors
    )


_COUNTS = [_counts(state) for state in range(8)]
_CHANGES = [[_difference(after, before) for after in _COUNTS] for before in _COUNTS]
"""The change of the counts, by the state before and after."""


class Joined(Struct, frozen=True):
    """The pair that an event joined."""

    pair: PairState
    is_call: bool
    begins: bool
    """The pair is new."""
    counts: bool
    """The event is now the call or the result of the pair; false for a further report of the same."""
    change: CallCounts
    """What the event adds to the counts of its run."""


class CallPairs:
    """Pairs the calls and results of one or several runs, event by event.

    `known` loads the pairs of a run and call id that were stored before, oldest first.
    """

    def __init__(self, known: Callable[[str, str], Iterable[PairState]] | None = None) -> None:
        self._known = known
        self._pairs: dict[tuple[str, str], list[PairState]] = {}

    def add(self, event: Event, mark: Any) -> Joined | None:
        """Take the next event; None when it is not a call or result. The mark stands for the event in its pair."""
        payload = event.payload
        is_call = event.type == "tool.call"
        if not isinstance(payload, ToolPayload) or not (is_call or event.type == "tool.result"):
            return None
        pair = self._find(event.run_id, payload, is_call)
        begins = pair is None
        if pair is None:
            pair = PairState(run_id=event.run_id, source=event.source, call_id=payload.call_id)
            if payload.call_id:
                self._pairs[event.run_id, payload.call_id].append(pair)
        before = pair.state
        if is_call and not pair.has_call:
            pair.source = event.source
        counts = _take(pair, payload, mark, is_call=is_call)
        return Joined(pair, is_call, begins, counts, _CHANGES[before][pair.state])

    def _find(self, run_id: str, payload: ToolPayload, is_call: bool) -> PairState | None:
        if not payload.call_id:
            return None
        key = (run_id, payload.call_id)
        pairs = self._pairs.get(key)
        if pairs is None:
            pairs = self._pairs[key] = list(self._known(*key)) if self._known is not None else []
        bit = (_CALL if is_call else _RESULT)[payload.fidelity]
        order = pairs if is_call else reversed(pairs)
        free = next((pair for pair in order if not pair.witnesses & bit), None)
        if free is not None or is_call:
            return free
        return next((pair for pair in reversed(pairs) if pair.has_call), None)


def _take(pair: PairState, payload: ToolPayload, mark: Any, *, is_call: bool) -> bool:
    """Put an event into its pair; returns whether it counts there."""
    bits = _CALL if is_call else _RESULT
    bit = bits[payload.fidelity]
    is_repeated = bool(pair.witnesses & bit)
    is_reported = bool(pair.witnesses & sum(bits.values()))
    pair.witnesses |= bit
    if is_repeated or (is_reported and payload.fidelity != "router"):
        return False
    if is_call:
        pair.name = payload.name or pair.name
        pair.call = mark
    else:
        pair.name = pair.name or payload.name
        pair.result, pair.error = mark, payload.error
    return True


def pair_calls(events: Iterable[Event]) -> list[CallPair]:
    """Every tool call and result of one or several runs, paired, in the order of their first events."""
    pairs = CallPairs()
    found = [joined.pair for event in events if (joined := pairs.add(event, event)) is not None and joined.begins]
    return [
        CallPair(
            run_id=pair.run_id,
            source=pair.source,
            call_id=pair.call_id,
            name=pair.name,
            call=pair.call,
            result=pair.result,
        )
        for pair in found
    ]
