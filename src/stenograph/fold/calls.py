"""Tool calls with their results.

Theory of operation. A call and its result share a `call_id` within a run. Two things can be told twice: our own seam
and the agent may both report one call (then there is one pair, and the router's word wins), and a provider may use an
id again (then there are two pairs). So a second call by the same reporter is a new pair, and one by the other reporter
joins the pair that lacks it.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from stenograph.model.event import Event
from stenograph.model.payload import ToolPayload


class CallPair(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One use of a tool: what was asked and what came back."""

    run_id: str
    source: str
    call_id: str
    name: str
    call: Event | None = None
    """None for a result whose call nobody told: a stray one."""
    result: Event | None = None
    """None for a call that was never answered: a dangling one."""

    @property
    def error(self) -> str | None:
        """Why it failed; None when it did not, or is not answered."""
        payload = None if self.result is None else self.result.payload
        return payload.error if isinstance(payload, ToolPayload) else None


class _Draft(Struct):
    first: Event
    call_id: str
    calls: dict[str, Event] = {}
    """By fidelity."""
    results: dict[str, Event] = {}

    def pair(self) -> CallPair:
        call, result = _trusted(self.calls), _trusted(self.results)
        name = "" if call is None else call.payload.name
        return CallPair(
            run_id=self.first.run_id,
            source=self.first.source,
            call_id=self.call_id,
            name=name or ("" if result is None else result.payload.name),
            call=call,
            result=result,
        )


def _trusted(told: dict[str, Event]) -> Event | None:
    if not told:
        return None
    return told.get("router") or next(iter(told.values()))


def pair_calls(events: Iterable[Event]) -> list[CallPair]:
    """Every tool call and result of one or several runs, paired, in the order of first sight."""
    drafts: list[_Draft] = []
    by_id: dict[tuple[str, str], list[_Draft]] = {}
    for event in events:
        payload = event.payload
        if event.type not in {"tool.call", "tool.result"} or not isinstance(payload, ToolPayload):
            continue
        same_id = by_id.setdefault((event.run_id, payload.call_id), [])
        is_call = event.type == "tool.call"
        draft = _home(same_id, payload, is_call=is_call)
        if draft is None:
            draft = _Draft(event, payload.call_id)
            drafts.append(draft)
            same_id.append(draft)
        (draft.calls if is_call else draft.results)[payload.fidelity] = event
    return [draft.pair() for draft in drafts]


def _home(drafts: list[_Draft], payload: ToolPayload, *, is_call: bool) -> _Draft | None:
    """The pair that an event belongs to; None when it begins one. An empty id names nothing, so it joins nothing."""
    if not payload.call_id or not drafts:
        return None
    if is_call:
        return next((draft for draft in drafts if payload.fidelity not in draft.calls), None)
    return next((draft for draft in reversed(drafts) if payload.fidelity not in draft.results), None)
