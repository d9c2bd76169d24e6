"""StenographLogger: records calls through LiteLLM's callbacks. Importing this imports LiteLLM."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any, Self

import litellm
from litellm.integrations.custom_logger import CustomLogger

from stenograph.adapters.capture import Capture
from stenograph.adapters.evaluations.model_wire import ModelWire
from stenograph.adapters.litellm.deliveries import Deliveries
from stenograph.adapters.outputs import Outputs, Target
from stenograph.formats.shared.model_api.recent import Recent
from stenograph.guard import Guard
from stenograph.session import Session
from stenograph.text_transcripts import ThreadTranscripts

SETTLE = 5.0
"""Seconds to wait, when a logger is left, for what LiteLLM has not delivered."""


class StenographLogger(CustomLogger):
    """A callback that records every call: `with StenographLogger(run): …`, or `async with` in an event loop.

    LiteLLM delivers a call after it has returned: from a thread, or, for `acompletion`, in the event loop. Leaving the
    block waits for what is still to come. Only what LiteLLM calls the standard logging object is recorded, which has
    no keys. In `litellm.callbacks` it works as well; call `settle` before the run ends.
    """

    def __init__(
        self,
        run: Target | None = None,
        *,
        session: Session | None = None,
        logger: logging.Logger | None = None,
        prompt_name: str = "",
        text_transcripts: ThreadTranscripts | None = None,
    ) -> None:
        super().__init__()
        outputs = Outputs(recorder=run, session=session, logger=logger, text_transcripts=text_transcripts)
        self._capture = Capture(prompt_name=prompt_name, adapter="litellm", outputs=outputs)
        self._wires: Recent[str, ModelWire] = Recent()
        self._guard = Guard("calls of litellm")
        self._deliveries = Deliveries(self._record)

    @property
    def lost(self) -> int:
        """Calls and events that could not be recorded; the log says why."""
        return self._guard.lost + self._capture.lost

    def __enter__(self) -> Self:
        litellm.callbacks.append(self)
        self._capture.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.settle()
        self._leave()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *exception: object) -> None:
        await self.asettle()
        self._leave()

    def _leave(self) -> None:
        for callbacks in (litellm.callbacks, *_others()):
            while self in callbacks:
                callbacks.remove(self)
        self._capture.stop()

    def settle(self, timeout: float = SETTLE) -> bool:
        """Wait until every call that began was delivered; False when one was not, such as a stream left half-way."""
        self._deliveries.wait(timeout)
        return self._settled()

    async def asettle(self, timeout: float = SETTLE) -> bool:
        """`settle` without blocking the event loop, in which LiteLLM delivers the calls of `acompletion`."""
        until = time.monotonic() + timeout
        while self._deliveries.are_open and time.monotonic() < until:
            await asyncio.sleep(0.005)
        return self._settled()

    def _settled(self) -> bool:
        missing = self._deliveries.close()
        if missing:
            self._guard.lost += missing
            self._capture.error(
                f"LiteLLM did not deliver {missing} calls: streams left half-way, or an event loop that has ended",
                missing=missing,
            )
        return not missing

    # What LiteLLM calls, by its names: the async ones are called with keywords.

    def log_pre_api_call(self, model: Any, messages: Any, kwargs: dict[str, Any]) -> None:
        """A call is about to be made."""
        self._guard.attempt("the start of a call", lambda: self._deliveries.began(_id_of(kwargs)))

    def log_post_api_call(self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any) -> None:
        """The service has answered; a stream has only begun."""
        if not kwargs.get("stream"):
            self._guard.attempt("the answer of a call", lambda: self._deliveries.answered(_id_of(kwargs)))

    def log_success_event(self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any) -> None:
        """A call is over, or a stream."""
        self._deliver(kwargs)

    def log_failure_event(self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any) -> None:
        """A call failed."""
        self._deliver(kwargs)

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """A call of `acompletion` is over, or its stream."""
        self._deliver(kwargs)

    async def async_log_failure_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """A call of `acompletion` failed."""
        self._deliver(kwargs)

    def _deliver(self, kwargs: dict[str, Any]) -> None:
        log = kwargs.get("standard_logging_object")
        if isinstance(log, dict):
            # LiteLLM's own trace id is another one for every call.
            log = {**log, "session_id": _session_of(kwargs), "trace_id": None}
            self._guard.call("a call", self._deliveries.delivered, _id_of(kwargs), log)

    def _record(self, log: dict[str, Any]) -> None:
        """A conversation that the host named has its own history."""
        wire = self._wires.ensure(log["session_id"] or "", lambda: ModelWire(self._capture, "openai_chat"))
        wire.take(log)


def _id_of(kwargs: dict[str, Any]) -> str:
    return str(kwargs.get("litellm_call_id") or "")


def _session_of(kwargs: dict[str, Any]) -> str | None:
    """The name that the host gave the conversation."""
    parameters = kwargs.get("litellm_params") or {}
    metadata = parameters.get("metadata") or {}
    named = (parameters.get("litellm_session_id"), metadata.get("session_id"), metadata.get("trace_id"))
    return next((str(name) for name in named if name), None)


def _others() -> tuple[list[Any], ...]:
    """Where LiteLLM copies its callbacks to."""
    names = ("success_callback", "failure_callback", "input_callback", "service_callback")
    return tuple(
        callbacks
        for name in names
        for callbacks in (getattr(litellm, name, None), getattr(litellm, f"_async_{name}", None))
        if isinstance(callbacks, list)
    )
