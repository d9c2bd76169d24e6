"""A tool's result on one line: its outcome, its duration, and its first line."""

from __future__ import annotations

import re

from stenograph.fold.actions import EDIT, READ, SHELL, WRITE, action_of, tool_of
from stenograph.model.event import Event
from stenograph.model.payload import ToolPayload
from stenograph.render.figures import counted, duration
from stenograph.render.page_facts import on_a_line
from stenograph.render.unwrapped import unwrapped

LENGTH = 90
LOOKED_AT = 4_000
"""Characters of an output that are searched for its first line."""
_STYLES = re.compile(r"\x1b\[[0-9;:]{0,80}m")


def figures_of(call: Event, payload: ToolPayload) -> str:
    """The exit code where it is not 0, and the duration."""
    tool_input = call.payload.input if isinstance(call.payload, ToolPayload) else None
    code = action_of(tool_of(call), tool_input, payload).exit_code if tool_of(call).kind == SHELL else None
    figures = [f"exit {code}"] if code else []
    figures += [] if payload.duration_ms is None else [duration(payload.duration_ms / 1000)]
    return " · ".join(figures)


def first_line(call: Event, payload: ToolPayload) -> str:
    """The first line of a result; for a file that was read, its length; nothing where the call is unfolded anyway."""
    kind = tool_of(call).kind
    output = unwrapped(payload.output).text
    if kind in (WRITE, EDIT) or payload.error is not None:
        return ""
    if kind == READ and output:
        return counted(output.count("\n") + (not output.endswith("\n")), "line")
    if output.startswith("{\n"):  # fields that are shown as they are
        return on_a_line(output, LENGTH)
    begin = _STYLES.sub("", output[:LOOKED_AT])
    return on_a_line(next((each for each in begin.split("\n") if each.strip()), ""), LENGTH)
