"""Evaluation: everything that is recorded about one prompt while a request/response adapter evaluates it.

The adapter sends the prompts and runs the tools, so both have fidelity `router`, which replaces the format's. A call is
recorded once; the result that the next request repeats is left out, since it was recorded when the tool ended.
"""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from stenograph.adapters.capture import Capture
from stenograph.adapters.evaluations.model_wire import ModelWire
from stenograph.adapters.outputs import Outputs
from stenograph.adapters.prompt import Prompt, Response
from stenograph.clock import utc_now
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.content import seen_by_us
from stenograph.guard import Guard
from stenograph.journal.tool_call import error_text
from stenograph.jsonable import jsonable
from stenograph.model.event import Event, Origin
from stenograph.model.payload import TOKEN_COUNTS, ErrorPayload, MessagePayload, ToolPayload, UsagePayload
from stenograph.session import PromptExecuted, PromptRendered, Session, ToolInvoked


class Call(Struct, frozen=True):
    """A tool call that a model asked for."""

    id: str
    name: str
    arguments: Any
    """As the model sent them: mostly a string of JSON."""


class Evaluation:
    """Records one evaluation: the wire, the tools, and the session's events. Never raises."""

    def __init__(
        self,
        prompt: Prompt,
        *,
        adapter: str,
        format_name: str,
        path: str,
        outputs: Outputs,
        session: Session | None = None,
    ) -> None:
        """`session` gets three events of the evaluation, even if it is not among the `outputs`."""
        self.prompt = prompt
        self._path = path
        self._adapter = adapter
        self._recorder = outputs.recorder
        self._session = session
        self._capture = Capture(prompt_name=prompt.name, adapter=adapter, outputs=outputs)
        self._wire = ModelWire(self._capture, format_name, alter=self._at_our_seam)
        self._guard = Guard(f"evaluation of {prompt.name!r}")
        self._ours: set[str] = set()
        self._usage: Counter[str] = Counter()
        self._began = time.perf_counter()

    def begin(self) -> None:
        """The prompt is complete."""
        self._capture.start()
        self._dispatch(PromptRendered, system=self.prompt.system, user=self.prompt.text)

    def asked(self, request: dict[str, Any]) -> None:
        """A request is about to be sent."""
        self._wire.asked(self._path, request)

    def answered(self, answer: Any, calls: tuple[Call, ...] = ()) -> None:
        """The model answered, with these calls of our tools."""
        self._ours.update(call.id for call in calls)
        for event in self._wire.answered(self._path, answer):
            if isinstance(event.payload, UsagePayload):
                counts = {name: getattr(event.payload, name) for name in TOKEN_COUNTS}
                self._usage.update({name: count for name, count in counts.items() if count is not None})

    def failed(self, error: BaseException) -> None:
        """The model did not answer."""
        self._wire.failed(self._path, error)

    def gave_up(self, why: str) -> None:
        """The evaluation stops asking."""
        self._record("error", ErrorPayload(message=why))

    def used(self, call: Call, text: str, error: str | None, duration_ms: float) -> None:
        """A tool has ended: its result for the model, and why it failed, if it did."""
        payload = ToolPayload(
            name=call.name,
            call_id=call.id,
            input=None,
            output=text,
            error=error,
            fidelity="router",
            duration_ms=duration_ms,
        )
        self._record("tool.result", payload)
        self._dispatch(
            ToolInvoked,
            name=call.name,
            call_id=call.id,
            params=jsonable(arguments_of(call.arguments)),
            result=text,
            error=error,
            duration_ms=duration_ms,
        )

    def end(self, text: str = "", error: BaseException | None = None) -> Response:
        """It is over, with an answer or with an error."""
        usage = dict(self._usage)
        took = round((time.perf_counter() - self._began) * 1000, 3)
        why = error_text(error)
        self._dispatch(PromptExecuted, text=text, usage=usage or None, error=why, duration_ms=took)
        self._capture.stop(**({"error": why} if why else {}))
        run_id = None if self._recorder is None else self._capture.run_id
        return Response(self.prompt.name, text, run_id=run_id, usage=usage)

    def _at_our_seam(self, event: Event) -> Event | None:
        payload = event.payload
        if event.type == "message.user" and isinstance(payload, MessagePayload):
            return replace(event, payload=seen_by_us(payload))
        if not isinstance(payload, ToolPayload) or payload.call_id not in self._ours:
            return event
        return None if event.type == "tool.result" else replace(event, payload=replace(payload, fidelity="router"))

    def _record(self, type: str, payload: ToolPayload | ErrorPayload) -> None:
        event = Event(
            seq=0,
            run_id=self._capture.run_id,
            type=type,
            path="",
            iteration=0,
            timestamp=utc_now(),
            origin=Origin(adapter=self._adapter, session_id=self._capture.session_id, prompt_name=self.prompt.name),
            payload=payload,
        )
        self._wire.add([event])

    def _dispatch(self, kind: type[PromptRendered | ToolInvoked | PromptExecuted], **fields: Any) -> None:
        """Dispatched even if the session wants no entries, so not through the capture."""
        session = self._session
        if session is None:
            return
        place: dict[str, Any] = {
            "prompt_name": self.prompt.name,
            "adapter": self._adapter,
            "session_id": session.session_id,
        }
        now = datetime.now(UTC)
        self._guard.call("a session event", lambda: session.dispatch(kind(created_at=now, **place, **fields)))
