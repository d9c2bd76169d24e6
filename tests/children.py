"""The processes that this one started."""

from __future__ import annotations

import contextlib
from pathlib import Path


def children() -> set[int]:
    """Those that are there, also ended ones that were not waited for, where the system tells.

    Other tests in this process may have some for good (of `multiprocessing`, for example): compare before and after.
    """
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir() if Path("/proc/self/task").is_dir() else ():
        with contextlib.suppress(OSError):  # a thread that has ended
            found.update(map(int, (task / "children").read_text().split()))
    return found
