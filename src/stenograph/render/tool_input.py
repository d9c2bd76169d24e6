"""A tool's input for people: the command, the change, the most important argument."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Any

from stenograph.fold.actions import command_of
from stenograph.render.page_facts import on_a_line

COMMANDS = ("command", "cmd")
"""The argument names of shell commands."""
SUMMARY_LENGTH = 120
LARGEST_MATCH = 40_000
"""Up to this product of old and new lines they are matched; beyond it all of them are shown as replaced."""
_PAIRS = [("old_string", "new_string"), ("old_str", "new_str"), ("oldString", "newString"), ("oldText", "newText")]
_CONTENTS = ("content", "contents", "file_text")
_PATHS = ("file_path", "path", "filePath", "absolute_path", "notebook_path", "filename")
_MAIN_ARGUMENTS = (*COMMANDS, "pattern", *_PATHS, "query", "url", "description", "prompt", "skill", "name", "subject")
_TASKS = ("description", "name", "task_name", "title", "objective", "prompt", "message", "task")
_AGENT_TYPES = ("subagent_type", "agent_type", "agent_name", "agent")
_PATCH = re.compile(r"^(?:\*\*\* Begin Patch|diff --git |--- .*\n\+\+\+ |@@ -\d+)", re.MULTILINE)
_PATCH_SIGNS = ("@@ -", "+++ ", "diff --git ", "*** Begin Patch")
"""Every patch has one of these."""
_PATCH_BEGINS = 2_000


def summary_of(tool_input: Any) -> str:
    """A call's input on one line: its command, path, pattern …"""
    if isinstance(tool_input, str):
        return on_a_line(tool_input, SUMMARY_LENGTH)
    if not isinstance(tool_input, dict):
        return ""
    for name in _MAIN_ARGUMENTS:
        value = tool_input.get(name)
        value = command_of(value) if name in COMMANDS else value
        if isinstance(value, str) and value:
            return on_a_line(value, SUMMARY_LENGTH)
    return ""


def task_of(tool_input: Any) -> str:
    """The task of a subagent: its description and its type."""
    if not isinstance(tool_input, dict):
        return ""
    tasks = (tool_input.get(name) for name in _TASKS)
    task = next((each for each in tasks if isinstance(each, str) and each.strip()), "")
    kinds = (tool_input.get(name) for name in _AGENT_TYPES)
    kind = next((each for each in kinds if isinstance(each, str) and each), "")
    return on_a_line(f"{task} ({kind})" if task and kind else task or kind, SUMMARY_LENGTH)


def says_all(command: str, value: Any) -> bool:
    """Whether the command line holds all of the given value; a list of words may hold more."""
    return bool(value == command or value == command.split(" "))


def change_of(tool_input: dict[str, Any]) -> tuple[tuple[str, ...], str, str] | None:
    """The names of the arguments of a file change, the old text and the new; None when it is not a change."""
    for old, new in _PAIRS:
        if isinstance(tool_input.get(old), str) and isinstance(tool_input.get(new), str):
            return (old, new), tool_input[old], tool_input[new]
    if any(isinstance(tool_input.get(path), str) for path in _PATHS):
        for name in _CONTENTS:
            if isinstance(tool_input.get(name), str):
                return (name,), "", tool_input[name]
    return None


def path_of(tool_input: Any) -> str:
    """The file of a tool's input; empty where it names none."""
    if not isinstance(tool_input, dict):
        return ""
    return next((tool_input[name] for name in _PATHS if isinstance(tool_input.get(name), str)), "")


def is_patch(value: str) -> bool:
    """Whether a text begins as patches do."""
    head = value[:_PATCH_BEGINS]
    return any(map(head.__contains__, _PATCH_SIGNS)) and _PATCH.search(head) is not None


def change_lines(old: str, new: str) -> list[str]:
    """The lines to remove (`-`) and add (`+`) to turn one text into the other, with all that stay."""
    before, after = _lines(old), _lines(new)
    if len(before) * len(after) > LARGEST_MATCH:
        return [*(f"-{each}" for each in before), *(f"+{each}" for each in after)]
    shown: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            shown += [f" {each}" for each in before[i1:i2]]
        else:
            shown += [f"-{each}" for each in before[i1:i2]]
            shown += [f"+{each}" for each in after[j1:j2]]
    return shown


def _lines(value: str) -> list[str]:
    return value.removesuffix("\n").split("\n") if value else []
