"""What a forked child must replace: locks held by threads that are not in the child, and files it would share."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forkable(Protocol):
    """An object that a child process goes on using."""

    def _after_fork(self) -> None:
        """Become usable in the child, whatever other threads were doing to it in the parent."""


def reset_after_fork(each: Forkable) -> None:
    """Call its `_after_fork` in every forked child, for as long as the object lives."""
    _alive.add(each)


_alive: weakref.WeakSet[Forkable] = weakref.WeakSet()


def _reset_all() -> None:
    for each in list(_alive):
        each._after_fork()


os.register_at_fork(after_in_child=_reset_all)
