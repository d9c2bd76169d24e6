"""`steno show` at a terminal: a header, times, and a pager."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TypedDict

import click

from stenograph.cli.terminal import shown, wants_color
from stenograph.fold.agent_tables import name_of_agent
from stenograph.model import Event
from stenograph.render.control_chars import on_one_line
from stenograph.render.figures import amount, cost, counted, duration, when
from stenograph.render.selection import Readable, errors_only, last_unit, tools_only
from stenograph.render.terminal import TerminalRenderer
from stenograph.runs.info import RunInfo

_LESS = "FRX"
"""As git sets it: quit on a short text, pass colours, and leave the text on the screen."""


class Wanted(TypedDict):
    """Which events to show."""

    errors: bool
    tools: bool
    last: bool


def selected(events: Iterable[Event], wanted: Wanted) -> Iterable[Event]:
    """The events that `--last`, `--tools` and `--errors` select."""
    events = last_unit(events) if wanted["last"] else events
    events = errors_only(events) if wanted["errors"] else events
    return tools_only(events) if wanted["tools"] else events


def reading(events: Iterable[Event], info: RunInfo, *, color: bool, full: bool, everything: bool) -> Iterator[str]:
    """The transcript for a terminal: header, events with times, and how many machine events are hidden."""
    renderer = TerminalRenderer(color=color, full=full, times=True)
    yield _header(info, color=color)
    shown = Readable(events)
    for event in events if everything else shown:
        yield from renderer.pieces(event)
    if shown.hidden:
        verb = "is" if shown.hidden == 1 else "are"
        yield _dim(f"\n{counted(shown.hidden, 'machine event')} {verb} not shown; --all shows them\n", color)


def page(texts: Iterable[str]) -> None:
    """Show a text in the user's pager (`PAGER`)."""
    os.environ.setdefault("LESS", _LESS)
    click.echo_via_pager((shown(text) for text in texts if text), color=wants_color() or None)


def is_read_by_a_person() -> bool:
    """Whether the output goes to a terminal."""
    return sys.stdout.isatty()


def _header(info: RunInfo, *, color: bool) -> str:
    title = on_one_line(info.title or info.run_id)
    facts = [
        name_of_agent(info.agent),
        info.model or "",
        info.project or "",
        when(info.started_at),
        "" if not info.duration_ms else duration(info.duration_ms / 1000),
        cost(info.cost_usd, info.cost_is_partial),
        info.status + (f": {info.status_reason}" if info.status_reason else ""),
    ]
    counts = [
        counted(info.turns, "prompt"),
        counted(info.tool_calls, "tool call"),
        f"{info.failed_calls:,} failed" if info.failed_calls else "",
        f"{amount(info.input_tokens)} in, {amount(info.output_tokens)} out" if info.input_tokens else "",
    ]
    lines = [" · ".join(on_one_line(each) for each in line if each) for line in (facts, counts)]
    bold = f"\x1b[1m{title}\x1b[0m" if color else title
    return f"{bold}\n{_dim(chr(10).join(lines), color)}\n\n"


def _dim(text: str, color: bool) -> str:
    return f"\x1b[2m{text}\x1b[0m" if color else text
