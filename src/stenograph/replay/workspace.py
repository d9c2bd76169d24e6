"""Which paths the recorded tool calls would access when they run again.

This reads the inputs of calls; it is not a sandbox. What a command does without naming it, in a script or by a
variable, is not found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from stenograph.fold.actions import OTHER, SHELL, InputPlace, action_of, shell_texts
from stenograph.fold.agent_tables import Tool, tables_of
from stenograph.fold.exchange import Call
from stenograph.replay.shell_text import bare, with_folders, word_with_folders, words_of

_DEVICES = re.compile(r"/dev/(?:null|zero|stdin|stdout|stderr|tty|u?random|fd/\d+)\Z")
_PROGRAMS = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/")
_PATH = re.compile(
    r"""(?:(?<=^)|(?<=[\s"'`=:(<>|;&,{\[@]))      # where a word or a part of one begins
    (?P<path>(?:~|\$\{?HOME\}?|\.\.)?(?:/[^\s"'`;|&<>(){}\[\],*?$\\]*)|~(?=[\s"'`;|&]|$)|\.\.(?=[\s"'`;|&)]|$)
    |[\w.-]+(?:/[\w.-]+)*/\.\.(?:/[^\s"'`;|&<>(){}]*)?)""",
    re.VERBOSE | re.MULTILINE,
)
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*:/\S*", re.IGNORECASE)
_RARE = "\ua66e"
"""A letter of one known word, in which no path is expected."""
_FIRST_WORD = re.compile(r"(?:^|[;|&(`]|\$\()\s*(?P<path>/\S+)")


class Reach(Struct, frozen=True, kw_only=True):
    """A path that a call names outside the workspace."""

    call: str
    """The call, on one line."""
    path: str


def paths_outside(calls: Iterable[Call], adapter: str, workspace: str, allowed: Iterable[str] = ()) -> list[Reach]:
    """The paths in calls, as they would run now, outside a folder and outside the allowed folders."""
    given = (workspace, *allowed)
    inside = tuple(os.path.realpath(each) for each in given)
    odd = {each.rstrip("/") for each in (*given, *inside) if bare(each) != each}
    stand_ins = {each: f"/{_RARE}{number}{_RARE}" for number, each in enumerate(sorted(odd))}
    tools = tables_of(adapter).tools
    found = []
    for call in calls:
        tool = tools.get(call.name)
        for path in dict.fromkeys(_named(tool, call.input, stand_ins)):
            if not _is_inside(path, workspace, inside):
                words = () if tool is None else _odd_words(tool, call.input, path)
                whole = next((word for word in words if not _is_inside(word, workspace, inside)), path)
                found.append(Reach(call=describe(call, adapter), path=whole))
    return found


def _odd_words(tool: Tool, tool_input: Any, path: str) -> Iterator[str]:
    """The words of a shell's call that begin with this path, and go on after a quoted blank or the like."""
    for place in shell_texts(tool, tool_input):
        text = tool_input
        for each in place:
            text = text[each]
        yield from (word for word in words_of(text) if word.startswith(path) and bare(word) != word)


def describe(call: Call, adapter: str) -> str:
    """A call on one line, for a person who decides whether it may run again."""
    tool = tables_of(adapter).tools.get(call.name)
    action = action_of(tool, call.input) if tool is not None else None
    if action is not None and action.command is not None:
        return f"{_one_line(call.name)}: {_one_line(action.command)}"
    if action is not None and action.paths:
        return f"{_one_line(call.name)}: {_one_line(', '.join(action.paths))}"
    return f"{_one_line(call.name)}: {_one_line(' '.join(_texts(call.input)))}".rstrip(": ")


def _named(tool: Tool | None, tool_input: Any, stand_ins: Mapping[str, str]) -> Iterator[str]:
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
        # A path in a command ends at a blank or a quote, so a folder that has one stands there under another name.
        read_by_shell = shell_texts(tool, tool_input)
        action = action_of(tool, _with_stand_ins(tool_input, stand_ins, read_by_shell) if stand_ins else tool_input)
        for path in command_paths(action.command or ""):
            folder = next((folder for folder, name in stand_ins.items() if path.startswith(name)), None)
            yield path if folder is None else folder + path.removeprefix(stand_ins[folder])
    yield from action.paths


def _with_stand_ins(
    value: Any, stand_ins: Mapping[str, str], read_by_shell: Collection[InputPlace], place: InputPlace = ()
) -> Any:
    """The input of a shell's call, with other names for folders where they are surely one word of the command."""
    match value:
        case str():
            if place in read_by_shell:
                return with_folders(value, stand_ins, only_clear=True)
            return word_with_folders(value, stand_ins)
        case list():
            return [
                _with_stand_ins(each, stand_ins, read_by_shell, (*place, number)) for number, each in enumerate(value)
            ]
        case dict():
            return {
                name: _with_stand_ins(each, stand_ins, read_by_shell, (*place, name)) for name, each in value.items()
            }
    return value


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
