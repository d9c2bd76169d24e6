"""The options that select a part of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, TypedDict, TypeVar

import click

from stenograph.errors import InvalidQuery
from stenograph.runs.reader import RunReader
from stenograph.runs.selection import empty_message

T = TypeVar("T")

_OPTIONS = (
    click.option("--source", metavar="NAME", help="Only what main or one subagent said."),
    click.option(
        "--unit", type=click.IntRange(min=0), metavar="N", help="Only the Nth user message and what followed."
    ),
    click.option("--from", "from_seq", type=click.IntRange(min=1), metavar="SEQ", help="Begin with this event."),
    click.option("--to", "to_seq", type=click.IntRange(min=1), metavar="SEQ", help="End with this event."),
)


class Part(TypedDict):
    """A part of a run, as `RunReader.events` takes it."""

    source: str | None
    unit: int | None
    from_seq: int | None
    to_seq: int | None


def part_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--source`, `--unit`, `--from` and `--to`, given to the command as one `part`."""

    @wraps(command)
    def with_part(
        *, source: str | None, unit: int | None, from_seq: int | None, to_seq: int | None, **others: Any
    ) -> Any:
        return command(part=Part(source=source, unit=unit, from_seq=from_seq, to_seq=to_seq), **others)

    decorated: Callable[..., Any] = with_part
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def names_seq(part: Part) -> bool:
    """Whether events are selected by `seq`. A search cites the archive's numbers."""
    return part["from_seq"] is not None or part["to_seq"] is not None


def not_empty(items: Iterable[T], run: RunReader, part: Part) -> Iterator[T]:
    """The items of a part; raises `InvalidQuery`, which names what exists, if the part is empty."""
    is_empty = any(value is not None for value in part.values())
    for item in items:
        is_empty = False
        yield item
    if is_empty:
        raise InvalidQuery(empty_message(run.events(keep_raw=False)))
