"""Everything that failed in a run: calls whose result is an error, and error events; as many as the totals count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from stenograph.fold.actions import action
from stenograph.fold.calls import CallPair, pair_calls
from stenograph.model import mend
from stenograph.model.event import Event
from stenograph.model.payload import ErrorPayload, ToolPayload


class FailedStep(Struct, frozen=True, kw_only=True):
    """One thing that failed."""

    seq: int
    """Of the result, or of the error event."""
    timestamp: str
    source: str
    tool: str | None
    """None for an error event."""
    call_seq: int | None
    """Of the call; None for an error event, and for a result whose call is not in the run."""
    target: str
    """The command, the path, or the input of the call."""
    exit_code: int | None
    message: str


def failures(events: Iterable[Event]) -> list[FailedStep]:
    """Everything that failed, in order."""
    errors: list[FailedStep] = []

    def without_errors() -> Iterable[Event]:
        for event in events:
            if event.type == "error":
                errors.append(_error(event))
            yield event

    pairs = pair_calls(without_errors())
    failed = [_call(pair, pair.result) for pair in pairs if pair.error is not None and pair.result is not None]
    return sorted([*failed, *errors], key=lambda each: each.seq)


def _error(event: Event) -> FailedStep:
    payload = event.payload
    message = payload.message if isinstance(payload, ErrorPayload) else ""
    return FailedStep(
        seq=event.seq,
        timestamp=event.timestamp,
        source=event.source,
        tool=None,
        call_seq=None,
        target="",
        exit_code=None,
        message=message,
    )


def _call(pair: CallPair, result: Event) -> FailedStep:
    does = action(pair)
    tool_input = pair.call.payload.input if pair.call and isinstance(pair.call.payload, ToolPayload) else None
    return FailedStep(
        seq=result.seq,
        timestamp=result.timestamp,
        source=pair.source,
        tool=pair.name,
        call_seq=None if pair.call is None else pair.call.seq,
        target=does.command or " ".join(does.paths) or _text(tool_input),
        exit_code=does.exit_code,
        message=pair.error or "",
    )


def _text(tool_input: Any) -> str:
    if tool_input is None or isinstance(tool_input, str):
        return tool_input or ""
    return msgspec.json.encode(mend.scrub(msgspec.to_builtins(mend.plain(tool_input)))[0]).decode()
