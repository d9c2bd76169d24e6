"""The session events and usage totals of one evaluation, from its transcript events."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from stenograph.adapters.codex_app_server.emitter import ADAPTER
from stenograph.adapters.prompt import Prompt
from stenograph.fold.calls import CallPairs
from stenograph.fold.usage import UsageCounter
from stenograph.guard import Guard
from stenograph.model.event import Event
from stenograph.model.payload import ToolPayload
from stenograph.session import PromptExecuted, PromptRendered, Session, ToolInvoked
from stenograph.transcript.content import payload_text


class SessionEvents:
    """Dispatches `PromptRendered`, `ToolInvoked` and `PromptExecuted`, and adds up usage. Never raises."""

    def __init__(self, prompt: Prompt, session: Session | None) -> None:
        self._prompt = prompt
        self._session = session
        self._guard = Guard(f"session events of {prompt.name!r}")
        self._began = time.monotonic()
        self._pairs = CallPairs()
        self._usage = UsageCounter()
        self.counts_usage = False
        """Whether usage belongs to our own turn; a continued thread repeats earlier usage."""

    @property
    def lost(self) -> int:
        """The number of events that could not be dispatched; the log says why."""
        return self._guard.lost

    @property
    def usage(self) -> dict[str, int]:
        """Tokens of all model calls so far, by the names of the `token.usage` event."""
        counts: dict[str, int] = msgspec.structs.asdict(self._usage.totals().total)
        return {name: count for name, count in counts.items() if name != "records"} if counts["records"] else {}

    def rendered(self) -> None:
        """The prompt is about to be sent."""
        self._dispatch(PromptRendered, system=self._prompt.system, user=self._prompt.text)

    def add(self, events: Iterable[Event]) -> None:
        """Process events of the connection."""
        for event in events:
            self._guard.call("an event", self._add, event)

    def executed(self, text: str, error: str | None) -> None:
        """The evaluation is over."""
        self._dispatch(
            PromptExecuted, text=text, usage=self.usage or None, error=error, duration_ms=_milliseconds(self._began)
        )

    def _add(self, event: Event) -> None:
        payload = event.payload
        if event.type == "token.usage" and self.counts_usage:
            self._usage.add(event)
        elif isinstance(payload, ToolPayload):
            joined = self._pairs.add(event, (payload, time.monotonic()))
            if joined is not None and joined.counts and not joined.is_call:
                self._invoked(payload, joined.pair.call)

    def _invoked(self, result: ToolPayload, begun: tuple[ToolPayload, float] | None) -> None:
        duration = result.duration_ms
        if duration is None and begun is not None:
            duration = _milliseconds(begun[1])
        self._dispatch(
            ToolInvoked,
            name=result.name or (begun[0].name if begun else ""),
            call_id=result.call_id or None,
            params=begun[0].input if begun else None,
            result=payload_text(result) if result.blocks else result.output,
            error=result.error,
            duration_ms=duration,
        )

    def _dispatch(self, kind: type[Any], **facts: Any) -> None:
        session = self._session
        if session is None:
            return
        common = {"prompt_name": self._prompt.name, "adapter": ADAPTER, "session_id": session.session_id}
        self._guard.call(
            "a session event",
            lambda: session.dispatch(kind(**common, created_at=datetime.now(UTC), **facts)),
        )


def _milliseconds(since: float) -> float:
    return round((time.monotonic() - since) * 1000, 3)
