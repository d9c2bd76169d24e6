"""What a tool call does: run a command, read or change files, ask a person … This is the only place that decides it.

Each format brings a table of its agent's tools (`FormatSpec.tools`): the tool's name, its kind, and the names of its
arguments. A tool that no table names is `other`, and has no command, path or change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from msgspec import Struct

from stenograph.fold.agent_tables import Tool, tables_of
from stenograph.fold.calls import CallPair
from stenograph.model.event import Event
from stenograph.model.payload import ToolPayload

SHELL, READ, WRITE, EDIT, SEARCH, FETCH = "shell", "read", "write", "edit", "search", "fetch"
TODO, QUESTION, PLAN, SUBAGENT, OTHER = "todo", "question", "plan", "subagent", "other"
KINDS = (SHELL, READ, WRITE, EDIT, SEARCH, FETCH, TODO, QUESTION, PLAN, SUBAGENT, OTHER)
_OTHER = Tool(kind=OTHER)
_CHANGING = (WRITE, EDIT)
_LARGEST_MATCH = 40_000
"""Old lines times new lines up to which they are matched; beyond that all of them count as replaced."""
_HEAD = 400
"""Characters at the beginning and at the end of an output that are searched for the exit code."""
_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = re.compile(r"\*\*\* Move to: (.+)")
_UNIFIED = re.compile(r"^(?:diff --git |--- .*\n\+\+\+ )", re.MULTILINE)
_KINDS = {"Add": "write", "Update": "edit", "Delete": "delete", "add": "write", "update": "edit", "delete": "delete"}
_CODES = ("exit_code", "exitCode", "exit", "returncode")
IS_SHELL = re.compile(r"(?:^|/)(?:ba|z|da|k|a)?sh\Z")
"""Finds the name of a shell at the end of a path."""

InputPlace = tuple[str | int, ...]
"""A place in an input: names and numbers, from the outside in."""


class Change(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change of one file: the old and the new text, or a patch."""

    path: str
    kind: str
    """`write` (the whole content is given), `edit`, `delete` or `move`."""
    old: str | None = None
    new: str | None = None
    patch: str | None = None

    @property
    def lines(self) -> tuple[int, int]:
        """How many lines are added and removed."""
        if self.patch is not None:
            body = [line for line in self.patch.split("\n") if not line.startswith(("+++", "---"))]
            return sum(line.startswith("+") for line in body), sum(line.startswith("-") for line in body)
        return _replaced(_lines(self.old), _lines(self.new))


class Action(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one tool call does."""

    kind: str
    """One of `KINDS`."""
    command: str | None = None
    """The command line, of kind `shell`."""
    cwd: str | None = None
    """The folder in which the command ran, where the call names one."""
    paths: tuple[str, ...] = ()
    """The files and folders that it names, as the agent wrote them."""
    changes: tuple[Change, ...] = ()
    """Of kinds `write` and `edit`."""
    exit_code: int | None = None
    """For kind `shell`: the exit code that the result reports; None where it reports none."""


def action(call: CallPair | Event) -> Action:
    """What a call does; with its result, by a pair, also the exit code."""
    event = call if isinstance(call, Event) else call.call
    payload = None if event is None else event.payload
    if event is None or not isinstance(payload, ToolPayload):
        return Action(kind=OTHER)
    result = call.result.payload if isinstance(call, CallPair) and call.result is not None else None
    return action_of(tool_of(event), payload.input, result if isinstance(result, ToolPayload) else None)


def tool_of(event: Event) -> Tool:
    """What the table of the event's format says about its tool."""
    name = event.payload.name if isinstance(event.payload, ToolPayload) else ""
    return tables_of(None if event.origin is None else event.origin.adapter).tools.get(name, _OTHER)


def asks_a_person(event: Event) -> bool:
    """Whether the agent waits for a person's answer while the call is open."""
    return tool_of(event).kind in (QUESTION, PLAN)


def action_of(tool: Tool, tool_input: Any, result: ToolPayload | None = None) -> Action:
    """What a tool does with this input."""
    fields = tool_input if isinstance(tool_input, dict) else {}
    kind = READ if tool.reads_if is not None and fields.get(tool.reads_if[0]) == tool.reads_if[1] else tool.kind
    changes = tuple(_changes(tool, tool_input)) if kind in _CHANGING else ()
    paths = tuple(dict.fromkeys([*_paths(tool, fields), *(change.path for change in changes if change.path)]))
    is_shell = kind == SHELL
    return Action(
        kind=kind,
        command=_command(tool, tool_input) if is_shell else None,
        cwd=_text(fields, tool.cwd) if is_shell else None,
        paths=() if is_shell or kind == OTHER else paths,
        changes=changes,
        exit_code=_exit_code(tool, result) if is_shell and result is not None else None,
    )


def command_of(value: Any) -> str | None:
    """A shell command, given as a line or as words."""
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        is_script = len(value) == 3 and value[1] in ("-c", "-lc")
        return str(value[2]) if is_script else " ".join(value)
    return value if isinstance(value, str) else None


def shell_texts(tool: Tool, tool_input: Any) -> frozenset[InputPlace]:
    """The places of an input whose texts are read by a shell. Other words of a command are used as they are."""
    if tool.kind != SHELL:
        return frozenset()
    found: list[tuple[InputPlace, Any]] = [((), tool_input)]
    if isinstance(tool_input, dict):
        found = [((name,), tool_input.get(name)) for name in tool.command]
        for name in tool.commands:
            listed = tool_input.get(name)
            found += [((name, number), each) for number, each in enumerate(listed if isinstance(listed, list) else ())]
    return frozenset(place for at, value in found if (place := _shell_text(at, value)) is not None)


def _shell_text(at: InputPlace, value: Any) -> InputPlace | None:
    match value:
        case str():
            return at
        case [str(program), "-c" | "-lc", str()] if IS_SHELL.search(program):
            return (*at, 2)
    return None


def _command(tool: Tool, tool_input: Any) -> str | None:
    if isinstance(tool_input, dict):
        listed = (tool_input[name] for name in tool.commands if isinstance(tool_input.get(name), list))
        if lines := [line for value in listed for each in value if (line := _line(each))]:
            return "\n".join(lines)
        return next((found for name in tool.command if (found := command_of(tool_input.get(name))) is not None), None)
    return command_of(tool_input)


def _line(each: Any) -> str | None:
    """One command line of several: a text, or a program with its arguments."""
    if isinstance(each, dict):
        more = each.get("args")
        words = [each.get("command"), *(more if isinstance(more, list) else [])]
        return " ".join(word for word in words if isinstance(word, str)) or None
    return command_of(each)


def _paths(tool: Tool, tool_input: dict[str, Any]) -> Iterator[str]:
    for name in tool.paths:
        value = tool_input.get(name)
        for each in value if isinstance(value, list) else [value]:
            path = each.get("path") if isinstance(each, dict) else each
            if isinstance(path, str) and path:
                yield path
    for each in tool_input.get("locations") or () if isinstance(tool_input.get("locations"), list) else ():
        if isinstance(each, dict) and isinstance(each.get("path"), str):
            yield each["path"]


def _changes(tool: Tool, tool_input: Any) -> Iterator[Change]:
    if isinstance(tool_input, str):
        yield from patch_changes(tool_input)
        return
    if not isinstance(tool_input, dict):
        return
    listed = tool_input.get("changes") or tool_input.get("edits") or tool_input.get("content")
    path = next(_paths(tool, tool_input), "")
    found = False
    if isinstance(listed, list | dict):
        for each in _listed(listed):
            for change in _one(tool, each, path):
                found = True
                yield change
    if not found:
        yield from _one(tool, tool_input, path)


def _listed(value: list[Any] | dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The changes of several files: as a list, or by path."""
    if isinstance(value, dict):
        value = [{"path": path} | change for path, change in value.items() if isinstance(change, dict)]
    yield from (each for each in value if isinstance(each, dict))


def _one(tool: Tool, tool_input: dict[str, Any], path: str) -> Iterator[Change]:
    path = next(_paths(tool, tool_input), path)
    old, new = _text(tool_input, tool.old), _text(tool_input, tool.new)
    if new is not None:
        yield Change(path=path, kind="edit" if old else "write", old=old or "", new=new)
        return
    diff = _text(tool_input, ("diff", "unified_diff"))
    if diff is not None:
        named = tool_input.get("kind") if isinstance(tool_input.get("kind"), str) else None
        kind_name = (
            tool_input["kind"].get("type")
            if isinstance(tool_input.get("kind"), dict)
            else named or tool_input.get("type")
        )
        kind = _KINDS.get(kind_name, "edit") if isinstance(kind_name, str) else "edit"
        is_whole = kind == "write" and "\n@@" not in f"\n{diff}"
        yield Change(path=path, kind=kind, old="", new=diff) if is_whole else Change(path=path, kind=kind, patch=diff)
        return
    content = _text(tool_input, tool.content)
    if content is not None and path:
        yield Change(path=path, kind="write", old="", new=content)
        return
    patch = _text(tool_input, tool.patch)
    if patch is not None:
        yield from patch_changes(patch, path)
    elif path and isinstance(tool_input.get("kind"), str | dict):
        kind_name = tool_input["kind"] if isinstance(tool_input["kind"], str) else tool_input["kind"].get("type")
        yield Change(path=path, kind=_KINDS.get(str(kind_name), "edit"))


def _text(tool_input: dict[str, Any], names: Iterable[str]) -> str | None:
    return next((tool_input[name] for name in names if isinstance(tool_input.get(name), str)), None)


def patch_changes(patch: str, path: str = "") -> list[Change]:
    """The files that a patch changes; a patch of unknown form is one change of the given path, if any."""
    if "*** Begin Patch" in patch:
        return list(_begin_patch(patch))
    if _UNIFIED.search(patch):
        return list(_unified(patch, path))
    return [Change(path=path, kind="edit", patch=patch)] if path else []


def _begin_patch(patch: str) -> Iterator[Change]:
    kind = path = ""
    body: list[str] = []
    for line in [*patch.split("\n"), "*** End Patch"]:
        head, moved = _FILE.match(line), _MOVE.match(line)
        if moved and kind:
            kind, path = "move", moved[1].strip()
        elif line.startswith("*** ") and not line.startswith("*** End of File"):
            if kind:
                yield Change(path=path, kind=kind, patch="\n".join(body))
            kind, path, body = (_KINDS[head[1]], head[2].strip(), []) if head else ("", "", [])
        else:
            body.append(line)


def _unified(patch: str, path: str) -> Iterator[Change]:
    parts = re.split(r"^(?=diff --git )", patch, flags=re.MULTILINE)
    if len(parts) == 1:
        parts = re.split(r"^(?=--- .*\n\+\+\+ )", patch, flags=re.MULTILINE)
    for part in parts:
        old, new = re.search(r"^--- (.+)", part, re.MULTILINE), re.search(r"^\+\+\+ (.+)", part, re.MULTILINE)
        if old is None or new is None:
            continue
        is_gone, is_made = new[1].startswith("/dev/null"), old[1].startswith("/dev/null")
        name = (old if is_gone else new)[1].split("\t")[0].strip()
        name = name[2:] if name.startswith(("a/", "b/")) else name
        yield Change(path=name or path, kind="delete" if is_gone else "write" if is_made else "edit", patch=part)


def _exit_code(tool: Tool, result: ToolPayload) -> int | None:
    output = result.output
    if isinstance(output, str) and output.startswith('{"output"'):
        with suppress(ValueError):  # then it is ordinary text
            output = json.loads(output)
    if isinstance(output, dict):
        return _code_in(output)
    text = output if isinstance(output, str) else ""
    for part in (result.error or "", text[:_HEAD], text[-_HEAD:]):
        found = re.search(tool.exit_code, part, re.MULTILINE) if part else None
        if found is not None:
            return int(next(group for group in found.groups() if group is not None))
    return None


def _code_in(output: dict[str, Any]) -> int | None:
    contents = output.get("contents")
    places = [output, output.get("metadata"), *(contents if isinstance(contents, list) else ())]
    for place in places:
        for name in _CODES if isinstance(place, dict) else ():
            if isinstance(place.get(name), int):
                return int(place[name])
    return None


def _lines(text: str | None) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _replaced(old: list[str], new: list[str]) -> tuple[int, int]:
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    if len(old) * len(new) > _LARGEST_MATCH:
        return len(new), len(old)
    from difflib import SequenceMatcher  # most who know the kinds of actions compare no texts

    same = sum(block.size for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks())
    return len(new) - same, len(old) - same
