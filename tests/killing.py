"""Work in a forked process that is killed after so many calls of functions. For scripts that have one thread."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any


def in_child(work: Callable[[], None]) -> int:
    """How a forked process ended."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001  # a fork must not go on as its parent
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def killed_after(work: Callable[[], None], calls: int, total: Path | None = None) -> None:
    """Do it, and be killed after so many calls of functions; how many there are in all is written to `total`."""
    made = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal made
        if event in ("call", "c_call"):
            made += 1
            if made == calls:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)
    work()
    sys.setprofile(None)
    if total is not None:
        total.write_text(str(made))
