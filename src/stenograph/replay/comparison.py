"""Whether a tool returned the recorded result, except for what always differs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import unified_diff

from stenograph.errors import InvalidOption

_ALWAYS = (
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b",  # UUIDs
    r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?",  # times
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} {1,2}(?:\d\d:\d\d|\d{4})\b",  # dates of ls
    r"(?<=\btmp)[a-z0-9_]{8}\b",  # temporary files
    r"(?<=/tmp\.)\w{6,10}\b",
    r"\b\d+\.\d+ ?(?:ms|s|sec|seconds)\b",  # durations
)
"""What differs whenever a command runs again."""
_MARK = "…"
_SHOWN = 40
"""Lines of a difference that are kept."""


class Comparison:
    """Compares results; `volatile` are regular expressions for what may differ."""

    def __init__(self, volatile: Iterable[str] = ()) -> None:
        """Raises `InvalidOption` for an invalid regular expression."""
        self._patterns = [_compiled(each) for each in (*volatile, *_ALWAYS)]

    def normal(self, text: str) -> str:
        """A result without what may differ."""
        for pattern in self._patterns:
            text = pattern.sub(_MARK, text)
        return text.strip()

    def difference(self, recorded: str, live: str) -> list[str] | None:
        """The lines in which they differ, marked with `-` (recorded) and `+` (now); None when they do not."""
        if recorded == live:
            return None
        before, after = self.normal(recorded), self.normal(live)
        if before == after:
            return None
        lines = [
            line
            for line in unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=0)
            if not line.startswith(("---", "+++", "@@"))
        ]
        return [*lines[:_SHOWN], f"… {len(lines) - _SHOWN} more lines"] if len(lines) > _SHOWN else lines


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InvalidOption(f"{pattern!r} is not a regular expression: {error}; correct it") from error
