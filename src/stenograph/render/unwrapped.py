"""Removes what agents put around a tool's output, tags and lines about the process; a page shows them separately."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from stenograph.transcript.content import as_text

_ERROR = re.compile(r"\A\s*<tool_use_error>(.*)</tool_use_error>\s*\Z", re.DOTALL)
_HEAD = re.compile(
    r"\A(?:(?:Chunk ID|Command|Exit code|Original token count|Total output lines|Wall time): [^\n]*\n"
    r"|Process (?:exited with code|running with session ID) [^\n]*\n)+Output:[ \t]*\n"
)
"""Codex: facts, one on a line, up to the output itself."""
_CONTEXT = re.compile(r"\A<untrusted_context>\n(?:Output: )?(.*?)\n?</untrusted_context>\s*\Z", re.DOTALL)
_TAIL = ("Background PIDs: ", "Exit Code: ", "Process Group PGID: ", "Signal: ")
"""Gemini: facts, one on a line, after the output."""
_FILE = re.compile(
    r"\A<path>([^\n]*)</path>\n<type>([^\n]*)</type>\n<(content|entries)>\n(.*?)\n?</\3>\s*\Z", re.DOTALL
)
"""OpenCode: a file or folder that was read."""
_TASK = re.compile(
    r'\A<task id="([^"\n]*)" state="([^"\n]*)">\n<task_result>\n(.*?)\n?</task_result>\n</task>\s*\Z', re.DOTALL
)
"""OpenCode: the report of a subagent."""
_TEXTS = ("output", "content", "message")
"""The names of an output among other fields."""
_SIMPLE = (str, int, float, bool, type(None))
_SHORT = 120


class Unwrapped(Struct, frozen=True):
    """An output without its agent's wrapper."""

    text: str
    facts: tuple[str, ...] = ()
    """The facts in the wrapper."""
    more: tuple[tuple[str, str], ...] = ()
    """Further texts in the wrapper, each with its name."""


def unwrapped(output: Any) -> Unwrapped:
    """Remove an agent's wrapper from an output; an output without one stays unchanged."""
    if isinstance(output, dict):
        return _of_fields(output) or Unwrapped(as_text(output))
    if not isinstance(output, str):
        return Unwrapped(as_text(output))
    if output.startswith('{"output":') and (found := _fields_in(output)) is not None:
        return found
    return _of_text(output)


def _of_text(output: str) -> Unwrapped:
    if found := _ERROR.match(output):
        return Unwrapped(found[1])
    if found := _HEAD.match(output):
        return Unwrapped(output[found.end() :], tuple(found[0].rstrip().split("\n")[:-1]))
    if found := _FILE.match(output):
        return Unwrapped(found[4], (found[1], found[2]))
    if found := _TASK.match(output):
        return Unwrapped(found[3], (found[1], found[2]))
    if found := _CONTEXT.match(output):
        lines = found[1].rsplit("\n", len(_TAIL))
        end = len(lines)
        while end and lines[end - 1].startswith(_TAIL):
            end -= 1
        return Unwrapped("\n".join(lines[:end]), tuple(lines[end:]))
    return Unwrapped(output)


def _fields_in(output: str) -> Unwrapped | None:
    """Codex, formerly: an output and its facts as JSON."""
    try:
        value = json.loads(output)
    except (ValueError, RecursionError):
        return None
    return _of_fields(value) if isinstance(value, dict) else None


def _of_fields(fields: dict[str, Any]) -> Unwrapped | None:
    """An output among other fields, all of them numbers, switches and texts; None where it is something else."""
    name = next((each for each in _TEXTS if isinstance(fields.get(each), str)), None)
    if name is None:
        return None
    facts: list[str] = []
    more: list[tuple[str, str]] = []
    for key, value in _flat(fields):
        if not isinstance(value, _SIMPLE):
            return None
        if key != name and isinstance(value, str) and ("\n" in value or len(value) > _SHORT):
            more.append((key, value))
        elif key != name:
            facts.append(f"{key} {json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value}")
    return Unwrapped(fields[name], tuple(facts), tuple(more))


def _flat(fields: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields, and those of the objects directly below."""
    for key, value in fields.items():
        if isinstance(value, dict):
            yield from ((str(inner), each) for inner, each in value.items())
        else:
            yield str(key), value
