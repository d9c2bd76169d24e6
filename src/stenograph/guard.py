"""Code of ours that runs inside another program must never break that program.

A guard around each entry point logs and counts errors, and the host goes on. Under `STENOGRAPH_STRICT=1` it raises
instead, which is how our own tests run.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar

log = logging.getLogger("stenograph.guard")

P = ParamSpec("P")
T = TypeVar("T")

STRICT = "STENOGRAPH_STRICT"


def is_strict() -> bool:
    """Whether errors of ours are raised in the host."""
    return os.environ.get(STRICT) == "1"


class Guard:
    """Calls our code on behalf of a host; `lost` counts the events that this could not keep."""

    def __init__(self, subject: str) -> None:
        self.lost = 0
        self._subject = subject
        self._noted = 0
        self._noted_at = float("-inf")

    def call(self, what: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """The function's result, or None when it failed: then an event is lost."""
        return self._guarded(1, what, function, *args, **kwargs)

    def attempt(self, what: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """The function's result, or None when it failed: no event is lost by that."""
        return self._guarded(0, what, function, *args, **kwargs)

    def _guarded(self, loss: int, what: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return function(*args, **kwargs)
        except Exception as error:  # any error of ours, which must not reach the host
            if is_strict():
                raise
            self.lost += loss
            self._note(what, error)
            return None

    def _note(self, what: str, error: Exception) -> None:
        now = time.monotonic()
        if now - self._noted_at < 1.0:  # a full disk fails a thousand times a second; say it once
            return
        since, self._noted, self._noted_at = self.lost - self._noted, self.lost, now
        count = f" ({since} lost since the last message)" if since else ""
        with suppress(Exception):  # the host's log handlers are called here, and they may fail, too
            log.error("%s: %s was not recorded: %s%s", self._subject, what, error, count)
