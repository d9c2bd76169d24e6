"""Conversations that are trees: which messages are on the branch that was shown, and which are on others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Placed(NamedTuple):
    """A message of a tree."""

    id: str
    is_shown: bool


def tree_order(parents: Mapping[str, str | None], leaf: Any) -> Iterator[Placed]:
    """The messages of a tree in the order to emit them; `parents` maps each, in the file's order, to its parent.

    The branch that ends with `leaf` is shown; without such a leaf, the one that ends with the last message. Other
    branches come directly after the message from which they branch off. Each message comes once, also one that is its
    own ancestor.
    """
    if not parents:
        return
    shown = _upwards(parents, leaf if leaf in parents else next(reversed(list(parents))))
    children: dict[str | None, list[str]] = {}
    for name, parent in parents.items():
        children.setdefault(parent if parent in parents else None, []).append(name)
    on_branch = set(shown)
    met: set[str] = set()
    for above, below in zip([None, *shown], [*shown, None], strict=True):
        for other in children.get(above, ()):
            if other not in on_branch:
                yield from _below(other, children, met)
        if below is not None:
            met.add(below)
            yield Placed(below, is_shown=True)
    for name in parents:  # messages in a circle of parents
        if name not in met:
            yield from _below(name, children, met)


def _upwards(parents: Mapping[str, str | None], leaf: str) -> list[str]:
    """A message and its ancestors, the oldest first."""
    found: list[str] = []
    name: str | None = leaf
    while name is not None and name in parents and name not in found:
        found.append(name)
        name = parents[name]
    return found[::-1]


def _below(name: str, children: Mapping[str | None, list[str]], met: set[str]) -> Iterator[Placed]:
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name not in met:
            met.add(name)
            yield Placed(name, is_shown=False)
            waiting += reversed(children.get(name, []))
