"""Work that a thread does while its owner goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Errand:
    """One piece of work at a time. What it raises is raised to whoever waits, now and later: it was never done."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    @property
    def is_busy(self) -> bool:
        """Whether there is something to wait for."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, work: Callable[[], object]) -> None:
        """Begin the next piece when the last one is done."""
        self.wait()
        self._thread = threading.Thread(target=self._run, args=(work,), name="stenograph-archive")
        self._thread.start()

    def wait(self) -> None:
        """Return when there is nothing under way."""
        self.end()
        if self._error is not None:
            raise self._error

    def end(self) -> None:
        """Wait, whatever came of it."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self, work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # it is raised where somebody waits
            self._error = error
