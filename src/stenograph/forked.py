"""What a forked child must have anew: locks that threads held which are not in the child, and files it would share."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forkable(Protocol):
    """Something that a child process goes on using."""

    def _after_fork(self) -> None:
        """Be usable in the child, whatever other threads were doing to it in the parent."""


def survives_fork(each: Forkable) -> None:
    """Have it told, for as long as it lives, that it is in a child now."""
    _alive.add(each)


_alive: weakref.WeakSet[Forkable] = weakref.WeakSet()


def _tell() -> None:
    for each in list(_alive):
        each._after_fork()


os.register_at_fork(after_in_child=_tell)
