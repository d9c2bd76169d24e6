"""Ids of calls for files that leave them out: a result is joined to its call by the name of the tool and the order."""

from __future__ import annotations

from collections import Counter
from typing import Any


class CallIds:
    """The ids of one conversation's calls, from the file or made of their tools' names."""

    def __init__(self, scope: str = "") -> None:
        """`scope` is the prefix of made ids: other files of the same run make ids of their own."""
        self._scope = scope
        self._nameless: Counter[str] = Counter()
        self._open: list[tuple[str, str]] = []

    def of_call(self, native_id: Any, name: str) -> str:
        """The id of a call; without one, an id made of its tool's name, numbered from the second on."""
        if isinstance(native_id, str) and native_id:
            return native_id
        self._nameless[name] += 1
        number = self._nameless[name]
        made = self._scope + (name if number == 1 else f"{name}#{number}")
        self._open.append((name, made))
        return made

    def of_result(self, native_id: Any, name: str) -> str:
        """The id of the call that a result answers; without one, the oldest open call of that name.

        A result that names neither call nor tool answers the oldest open call of all.
        """
        if isinstance(native_id, str) and native_id:
            return native_id
        for place, (tool, made) in enumerate(self._open):
            if name in (tool, ""):
                del self._open[place]
                return made
        return name
