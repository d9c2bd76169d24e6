"""Patterns do the same on every Python from 3.11 on."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest

from stenograph import redact

_parser: Any = importlib.import_module("re._parser")
_ENDS_ANYWAY = {"literal._TOKEN", "base64_text._RUN"}
"""A failed try leaves these beyond a character that makes no difference: the end of the text, or of a line."""


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for module in pkgutil.iter_modules(redact.__path__):
        for name, value in vars(importlib.import_module(f"{redact.__name__}.{module.name}")).items():
            values = (
                value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
            )
            yield from ((f"{module.name}.{name}", each) for each in values if isinstance(each, re.Pattern))


def _parts(argument: Any) -> Iterator[Any]:
    """What stands below an operation of a parsed pattern."""
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, list | tuple):
        for each in argument:
            yield from _parts(each)


def _may_give_up_inside(sequence: Any) -> bool:
    return any(
        str(operation) in ("BRANCH", "MAX_REPEAT", "MIN_REPEAT") or any(map(_may_give_up_inside, _parts(argument)))
        for operation, argument in sequence
    )


def _is_wrong_on_old_pythons(sequence: Any) -> bool:
    return any(
        (str(operation) == "POSSESSIVE_REPEAT" and _may_give_up_inside(argument[2]))
        or any(map(_is_wrong_on_old_pythons, _parts(argument)))
        for operation, argument in sequence
    )


@pytest.mark.parametrize(
    ("pattern", "is_wrong"),
    [("(?:a|b(?=c))++d", True), ("x(y(?:ab|c)*+)?", True), ("(?>(?:a|b)+)c", False), ("[ab]++(?:c|d)", False)],
)
def test_such_a_pattern_is_known(pattern: str, is_wrong: bool) -> None:
    """A possessive repetition of alternatives, wherever it is; an atomic group of the same is right."""
    assert _is_wrong_on_old_pythons(_parser.parse(pattern)) == is_wrong


def test_no_group_is_repeated_possessively() -> None:
    """Before 3.11.5 Python goes on at the wrong place after the last, failed try of it; Debian 12 has 3.11.2."""
    wrong = {name for name, each in _patterns() if _is_wrong_on_old_pythons(_parser.parse(each.pattern, each.flags))}
    assert wrong == _ENDS_ANYWAY
