"""What agents put around the output of a tool, tags and lines about the process: a page shows them apart from it."""

from __future__ import annotations

import re

from msgspec import Struct

_ERROR = re.compile(r"\A\s*<tool_use_error>(.*)</tool_use_error>\s*\Z", re.DOTALL)
_HEAD = re.compile(
    r"\A(?:(?:Chunk ID|Command|Exit code|Original token count|Total output lines|Wall time): [^\n]*\n"
    r"|Process (?:exited with code|running with session ID) [^\n]*\n)+Output:[ \t]*\n"
)
"""Codex: facts, one on a line, up to the output itself."""
_CONTEXT = re.compile(r"\A<untrusted_context>\n(?:Output: )?(.*?)\n?</untrusted_context>\s*\Z", re.DOTALL)
_TAIL = ("Background PIDs: ", "Exit Code: ", "Process Group PGID: ", "Signal: ")
"""Gemini: facts, one on a line, behind the output."""
_FILE = re.compile(
    r"\A<path>([^\n]*)</path>\n<type>([^\n]*)</type>\n<(content|entries)>\n(.*?)\n?</\3>\s*\Z", re.DOTALL
)
"""OpenCode: a file or folder that was read."""


class Unwrapped(Struct, frozen=True):
    """An output without what its agent put around it."""

    text: str
    facts: tuple[str, ...] = ()
    """What the wrapper says."""


def unwrapped(output: str) -> Unwrapped:
    """Take the wrapper of an agent off an output; an output without one stays as it is."""
    if found := _ERROR.match(output):
        return Unwrapped(found[1])
    if found := _HEAD.match(output):
        return Unwrapped(output[found.end() :], tuple(found[0].rstrip().split("\n")[:-1]))
    if found := _FILE.match(output):
        return Unwrapped(found[4], (found[1], found[2]))
    if found := _CONTEXT.match(output):
        lines = found[1].rsplit("\n", len(_TAIL))
        end = len(lines)
        while end and lines[end - 1].startswith(_TAIL):
            end -= 1
        return Unwrapped("\n".join(lines[:end]), tuple(lines[end:]))
    return Unwrapped(output)
