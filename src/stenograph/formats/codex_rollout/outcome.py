"""How a tool call ended: Codex writes it on a separate line, by call id, before the line with the output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from stenograph.formats.codex_rollout.record import EventMessage, TurnItem, loads
from stenograph.formats.shared.content import texts_of
from stenograph.formats.shared.loose import string

_FAILURES = {"failed", "declined"}


class Outcome(Struct, gc=False):
    """What Codex wrote about a call besides its output."""

    error: str | None = None
    duration_ms: float | None = None


_UNSAID = Outcome()


class Outcomes:
    """The calls that have no output yet, and what is known about them."""

    def __init__(self) -> None:
        self._open: dict[str, Outcome] = {}

    def called(self, call_id: str) -> None:
        """Add a call."""
        self._open[call_id] = _UNSAID

    def ended(self, call_id: Any, error: str | None, duration: Any) -> None:
        """Note how a call ended; too late for a call whose output was emitted."""
        if isinstance(call_id, str) and call_id in self._open:
            self._open[call_id] = Outcome(error, milliseconds(duration))

    def answered(self, call_id: str) -> Outcome:
        """The output of a call has come; return what is known about the call."""
        return self._open.pop(call_id, _UNSAID)


def error_of_item(item: TurnItem) -> str | None:
    """Why a completed item failed; None when Codex does not say that it did."""
    if item.error is None and item.success is not False and not _is_failure(item.status):
        return None
    result = loads(item.result)
    said = texts_of(result.get("content")) if isinstance(result, dict) else texts_of(item.content_items)
    return failure(item.status, item.error, item.success, item.stderr, item.exit_code, said)


def error_of_event(event: EventMessage) -> str | None:
    """Why the call of an event of a `legacy` history failed; None when Codex does not say that it did."""
    result = loads(event.result)
    if isinstance(result, dict):
        answer = result.get("Ok")
        if isinstance(answer, dict) and answer.get("isError") is True:
            return failure("failed", said=texts_of(answer.get("content")))
        if "Err" in result:
            return failure("failed", result["Err"])
    return failure(event.status, event.error, event.success, event.stderr, event.exit_code)


def failure(
    status: Any,
    error: Any = None,
    success: Any = None,
    stderr: Any = None,
    exit_code: Any = None,
    said: Sequence[str] = (),
) -> str | None:
    """The error of a tool in Codex's words; None when it does not say that the tool failed."""
    if error is None and success is not False and not _is_failure(status):
        return None
    message = error.get("message") if isinstance(error, dict) else error
    if string(message):
        return str(message)
    if isinstance(stderr, str) and stderr.strip():
        return stderr.strip()
    if isinstance(exit_code, int) and status != "declined":
        return f"exit code {exit_code}"
    return "\n".join(said) or (str(status) if _is_failure(status) else "failed")


def _is_failure(status: Any) -> bool:
    return isinstance(status, str) and status in _FAILURES


def milliseconds(duration: Any) -> float | None:
    """A duration as Codex writes it on disk (`{secs, nanos}`)."""
    if not isinstance(duration, dict):
        return None
    seconds, nanos = duration.get("secs", 0), duration.get("nanos", 0)
    if not (_is_count(seconds) and _is_count(nanos)):
        return None
    return float(seconds * 1000 + nanos / 1_000_000)


def _is_count(number: Any) -> bool:
    return isinstance(number, int) and 0 <= number < 1 << 53
