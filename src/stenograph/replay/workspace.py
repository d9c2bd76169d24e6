"""Which paths the recorded tool calls would access when they run again.

This reads the inputs of calls; it is not a sandbox. What a command does without naming it, in a script or by a
variable, is not found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from stenograph.fold.actions import OTHER, SHELL, action_of
from stenograph.fold.agent_tables import Tool, tables_of
from stenograph.fold.exchange import Call

_DEVICES = re.compile(r"/dev/(?:null|zero|stdin|stdout|stderr|tty|u?random|fd/\d+)\Z")
_PROGRAMS = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/")
_PATH = re.compile(
    r"""(?:(?<=^)|(?<=[\s"'`=:(<>|;&,{\[@]))      # where a word or a part of one begins
    (?P<path>(?:~|\$\{?HOME\}?|\.\.)?(?:/[^\s"'`;|&<>(){}\[\],*?$\\]*)|~(?=[\s"'`;|&]|$)|\.\.(?=[\s"'`;|&)]|$)
    |[\w.-]+(?:/[\w.-]+)*/\.\.(?:/[^\s"'`;|&<>(){}]*)?)""",
    re.VERBOSE | re.MULTILINE,
)
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*:/\S*", re.IGNORECASE)
_FIRST_WORD = re.compile(r"(?:^|[;|&(`]|\$\()\s*(?P<path>/\S+)")


class Reach(Struct, frozen=True, kw_only=True):
    """A path that a call names outside the workspace."""

    call: str
    """The call, on one line."""
    path: str


def paths_outside(calls: Iterable[Call], adapter: str, workspace: str, allowed: Iterable[str] = ()) -> list[Reach]:
    """The paths in calls, as they would run now, outside a folder and outside the allowed folders."""
    inside = tuple(os.path.realpath(each) for each in (workspace, *allowed))
    tools = tables_of(adapter).tools
    return [
        Reach(call=describe(call, adapter), path=path)
        for call in calls
        for path in dict.fromkeys(_named(tools.get(call.name), call.input))
        if not _is_inside(path, workspace, inside)
    ]


def describe(call: Call, adapter: str) -> str:
    """A call on one line, for a person who decides whether it may run again."""
    tool = tables_of(adapter).tools.get(call.name)
    action = action_of(tool, call.input) if tool is not None else None
    if action is not None and action.command is not None:
        return f"{_one_line(call.name)}: {_one_line(action.command)}"
    if action is not None and action.paths:
        return f"{_one_line(call.name)}: {_one_line(', '.join(action.paths))}"
    return f"{_one_line(call.name)}: {_one_line(' '.join(_texts(call.input)))}".rstrip(": ")


def _named(tool: Tool | None, tool_input: Any) -> Iterator[str]:
    """The paths that a call names; for a tool that no table knows, everything that looks like one."""
    if tool is None or tool.kind == OTHER:
        for each in _texts(tool_input):
            if each.startswith(("/", "~", "..")) and "\n" not in each:
                yield each
        return
    action = action_of(tool, tool_input)
    if tool.kind == SHELL:
        if action.cwd:
            yield action.cwd
        yield from command_paths(action.command or "")
    yield from action.paths


def command_paths(command: str) -> Iterator[str]:
    """The paths in the text of a command that may be outside its folder: absolute, at home, or upwards."""
    text = _ADDRESS.sub(" ", command)
    programs = {found["path"] for found in _FIRST_WORD.finditer(text) if found["path"].startswith(_PROGRAMS)}
    for found in _PATH.finditer(text):
        path = found["path"]
        if path not in programs and not _DEVICES.match(path):
            yield path


def _is_inside(path: str, workspace: str, inside: tuple[str, ...]) -> bool:
    for name in ("${HOME}", "$HOME", "~"):
        if path.startswith(name):
            path = str(Path.home()) + path.removeprefix(name)
    real = os.path.realpath(os.path.join(workspace, path))  # noqa: PTH118  # a path that may not exist
    return any(real == each or real.startswith(each.rstrip("/") + "/") for each in inside)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _texts(each)
        case dict():
            for each in value.values():
                yield from _texts(each)


def _one_line(text: str) -> str:
    from stenograph.render.control_chars import on_one_line

    text = on_one_line(text)
    return text if len(text) <= 160 else text[:159] + "…"
