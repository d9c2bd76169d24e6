"""Patterns of users: those that could take more than linear time are refused.

Theory of operation. The time of a search is the number of places where it may begin times the ways in which the
pattern may be tried there. A repetition that may be long and gives characters back multiplies the ways by its length.
One of them is harmless, two multiply, and one inside another multiplies without end. So a pattern may hold one, and as
many as it likes that are short, or that give nothing back (`++`, `{20,}+`).
"""

from __future__ import annotations

import importlib
import re
from typing import Any

_parser: Any = importlib.import_module("re._parser")
_SHORT = 64
"""Repetitions up to this length count as short."""
_MOST_WAYS = 4096
"""How many ways there may be to try a pattern at one place."""
_LONG = 512
"""What a repetition without an end counts as."""


def check_pattern(pattern: str) -> None:
    """Raises `ValueError`, or `re.error` for what is not a pattern, when a search could take more than linear time."""
    re.compile(pattern, re.ASCII)
    ways = _ways(_parser.parse(pattern))
    if ways > _MOST_WAYS:
        raise ValueError(
            "the pattern could be slow: bound its repetitions ({20,80}) or make them possessive (++, {20,}+)"
        )


def _ways(sequence: Any) -> int:
    ways = 1
    for operation, argument in sequence:
        ways = min(ways * _ways_of(str(operation), argument), _MOST_WAYS + 1)
    return ways


def _ways_of(operation: str, argument: Any) -> int:
    match operation:
        case "MAX_REPEAT" | "MIN_REPEAT":
            return _repeated(*argument)
        case "POSSESSIVE_REPEAT":
            return _ways_inside(argument[2])
        case "SUBPATTERN":
            return _ways(argument[-1])
        case "ATOMIC_GROUP":
            return _ways_inside(argument)
        case "BRANCH":
            return sum(map(_ways, argument[1]))
        case "ASSERT" | "ASSERT_NOT":
            return _ways_inside(argument[1])
        case "GROUPREF" | "GROUPREF_EXISTS" | "GROUPREF_IGNORE":
            return _MOST_WAYS + 1
        case _:
            return 1


def _ways_inside(sequence: Any) -> int:
    """What is tried inside is not tried again from outside, but it must be harmless itself."""
    ways = _ways(sequence)
    return ways if ways > _MOST_WAYS else 1


def _repeated(least: int, most: Any, sequence: Any) -> int:
    """The ways of a repetition: its possible lengths, times what is inside to the power of them."""
    count = min(int(most), _LONG)
    inside = _ways(sequence)
    widths = sequence.getwidth()
    varies = inside > 1 or widths[0] != widths[1]
    if varies and count > 1:
        return _MOST_WAYS + 1 if count > 2 or inside > 32 else (inside + 1) ** 2
    return (count - least + 1) * inside
