"""What a tool was given, as people look at it: the command, the change, the one telling argument."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Any

from stenograph.render.outline import on_a_line

COMMANDS = ("command", "cmd")
"""The names under which tools take a shell command."""
SUMMARY_LENGTH = 120
LARGEST_MATCH = 40_000
"""Old lines times new lines up to which they are matched; beyond that all of them are shown as replaced."""
_PAIRS = [("old_string", "new_string"), ("old_str", "new_str"), ("oldString", "newString"), ("oldText", "newText")]
_CONTENTS = ("content", "contents", "file_text")
_PATHS = ("file_path", "path", "filePath", "absolute_path", "notebook_path", "filename")
_TELLING = (*COMMANDS, "pattern", *_PATHS, "query", "url", "description", "prompt", "skill", "name", "subject")
_TASKS = ("description", "name", "task_name", "title", "objective", "prompt", "message", "task")
_AGENT_TYPES = ("subagent_type", "agent_type", "agent_name", "agent")
_PATCH = re.compile(r"^(?:\*\*\* Begin Patch|diff --git |--- .*\n\+\+\+ |@@ -\d+)", re.MULTILINE)
_PATCH_SIGNS = ("@@ -", "+++ ", "diff --git ", "*** Begin Patch")
"""A patch has one of these."""
_PATCH_BEGINS = 2_000


def summary_of(given: Any) -> str:
    """What a call is about, on one line: its command, path, pattern …"""
    if isinstance(given, str):
        return on_a_line(given, SUMMARY_LENGTH)
    if not isinstance(given, dict):
        return ""
    for name in _TELLING:
        value = given.get(name)
        value = command_of(value) if name in COMMANDS else value
        if isinstance(value, str) and value:
            return on_a_line(value, SUMMARY_LENGTH)
    return ""


def task_of(given: Any) -> str:
    """What a subagent is asked to do: its description and its type."""
    if not isinstance(given, dict):
        return ""
    told = next((given[name] for name in _TASKS if isinstance(given.get(name), str) and given[name].strip()), "")
    kind = next((given[name] for name in _AGENT_TYPES if isinstance(given.get(name), str) and given[name]), "")
    return on_a_line(f"{told} ({kind})" if told and kind else told or kind, SUMMARY_LENGTH)


def command_of(value: Any) -> str | None:
    """A shell command, given as a line or as words."""
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        is_script = len(value) == 3 and value[1] in ("-c", "-lc")
        return str(value[2]) if is_script else " ".join(value)
    return value if isinstance(value, str) else None


def says_all(command: str, value: Any) -> bool:
    """Whether the command line says everything that was given for it; words may say more."""
    return bool(value == command or value == command.split(" "))


def change_of(given: dict[str, Any]) -> tuple[tuple[str, ...], str, str] | None:
    """The names that a change of a file is given by, the old text and the new; None when it is no change."""
    for old, new in _PAIRS:
        if isinstance(given.get(old), str) and isinstance(given.get(new), str):
            return (old, new), given[old], given[new]
    if any(isinstance(given.get(path), str) for path in _PATHS):
        for name in _CONTENTS:
            if isinstance(given.get(name), str):
                return (name,), "", given[name]
    return None


def path_of(given: Any) -> str:
    """The file that a tool was given; empty where it names none."""
    if not isinstance(given, dict):
        return ""
    return next((given[name] for name in _PATHS if isinstance(given.get(name), str)), "")


def is_patch(value: str) -> bool:
    """Whether a text begins as patches do."""
    head = value[:_PATCH_BEGINS]
    return any(map(head.__contains__, _PATCH_SIGNS)) and _PATCH.search(head) is not None


def change_lines(old: str, new: str) -> list[str]:
    """What has to be taken away (`-`) and added (`+`) to come from one text to the other, with all that stays."""
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
