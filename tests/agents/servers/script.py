"""What a fake model says: named scripts, each a list of answers, each a list of parts.

A prompt names its script with `[[script:NAME]]`; a subagent's prompt names another one. A model has no memory: the
results of tools that a conversation holds since the last such mark tell which answer is next, so a request that is
repeated gets the same answer, and one server may serve many conversations. Every answer but the last has one call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MARK = re.compile(r"\[\[script:(\w+)\]\]")


@dataclass(frozen=True)
class Text:
    """Words for the user."""

    text: str


@dataclass(frozen=True)
class Thinking:
    """Words to itself."""

    text: str


@dataclass(frozen=True)
class Call:
    """A tool to run; the names `shell`, `patch` and `agent` stand for whatever the agent at hand calls them."""

    name: str
    input: Mapping[str, Any]


Part = Text | Thinking | Call
Scripts = Mapping[str, Sequence[Sequence[Part]]]


def mark(name: str) -> str:
    """The mark that makes a prompt play a script."""
    return f"[[script:{name}]]"


def marked(text: str) -> str | None:
    """The script that a prompt names."""
    found = _MARK.findall(text)
    return found[-1] if found else None


def answer(scripts: Scripts, name: str | None, step: int) -> Sequence[Part]:
    """The parts of an answer; a request of no script (a title, a warm-up) gets a word."""
    steps: Iterable[Sequence[Part]] = scripts[name] if name is not None else ()
    return next((parts for number, parts in enumerate(steps) if number == step), [Text("OK")])
