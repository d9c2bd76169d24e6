"""The pieces of an answer of gptme: thoughts, words and calls, which are all in its text.

A thought is between tags at the beginning of a line. A call is a line `@tool(id): {json}`, a block of code in the
language of a tool, or tags within `<tool-use>` or `<function_calls>`. A block in another language is words, whatever it
holds. A line that opens a block within a block is part of the outer one.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from stenograph.formats.gptme.tools import ARGUMENTS, LANGUAGES


class Call(NamedTuple):
    """A call of a tool."""

    call_id: str | None
    """None when its result is found only by the order."""
    tool: str
    input: Any


class Thought(NamedTuple):
    """What a model thinks before it answers."""

    text: str


Piece = str | Thought | Call

_MARKS = ("<think", "```", "<tool-use>", "<function_calls>", "@")
_THOUGHT = re.compile(r"^<(think|thinking)>(.*?)(?:</\1>|\Z)", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"^(`{3,})([^`\n]*)$", re.MULTILINE)
_MARK = re.compile(
    r"^(?P<fence>`{3,})(?P<language>[^`\n]*)$"
    r"|^@(?P<tool>[^\r\n]{1,200}?)\((?P<id>[\w\-:.]{1,200})\):\s*(?=\{)"
    r"|<tool-use>(?P<tools>.*?)</tool-use>|<function_calls>(?P<invokes>.*?)</function_calls>",
    re.DOTALL | re.MULTILINE,
)
"""What may begin a call."""
_TAG = re.compile(r"<([A-Za-z][\w.-]*)([^<>]*)>(.*?)</\1>", re.DOTALL)
_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*("[^"]*"|'[^']*')""")
_decoder = json.JSONDecoder(strict=False)


def pieces_of(content: str) -> Iterator[Piece]:
    """The thoughts, words and calls of an answer, in order; blanks around the words are removed."""
    if not any(mark in content for mark in _MARKS):
        yield content
        return
    at = 0
    for found in _THOUGHT.finditer(content):
        yield from _calls_in(content[at : found.start()])
        yield Thought(found[2].strip())
        at = found.end()
    yield from _calls_in(content[at:])


def _calls_in(text: str) -> Iterator[Piece]:
    at = begin = 0
    while (found := _MARK.search(text, at)) is not None:
        end, calls = _call_at(text, found)
        if calls:
            if words := text[begin : found.start()].strip():
                yield words
            yield from calls
            begin = end
        at = end
    if words := text[begin:].strip():
        yield words


def _call_at(text: str, found: re.Match[str]) -> tuple[int, list[Piece]]:
    """The end of what begins at a mark, and the calls in it; none when it is words."""
    if found["fence"] is not None:
        return _block_call(text, found)
    if found["tool"] is not None:
        return _line_call(text, found)
    inner = found["tools"] if found["tools"] is not None else found["invokes"]
    return found.end(), [_tag_call(tag) for tag in _TAG.finditer(inner)]


def _line_call(text: str, found: re.Match[str]) -> tuple[int, list[Piece]]:
    try:
        value, end = _decoder.raw_decode(text, found.end())
    except (ValueError, RecursionError):
        return found.end(), []
    return end, [Call(found["id"], found["tool"], value)]


def _tag_call(tag: re.Match[str]) -> Piece:
    attributes = {name: html.unescape(value[1:-1]) for name, value in _ATTRIBUTE.findall(tag[2])}
    tool = attributes.pop("name", tag[1]) if tag[1] == "invoke" else tag[1]
    return _written_call(tool, " ".join(attributes.values()), html.unescape(tag[3]).strip())


def _block_call(text: str, opening: re.Match[str]) -> tuple[int, list[Piece]]:
    language, _, arguments = opening["language"].strip().partition(" ")
    end = _end_of_block(text, opening)
    tool = LANGUAGES.get(language)
    if end is None:
        return (len(text), []) if tool is None else (opening.end(), [])
    if tool is None:
        return end.end(), []
    return end.end(), [
        _written_call(tool, arguments.strip(), text[opening.end() + 1 : max(opening.end() + 1, end.start() - 1)])
    ]


def _end_of_block(text: str, opening: re.Match[str]) -> re.Match[str] | None:
    """The line that closes a block; None for one that is not closed."""
    depth = 1
    for fence in _FENCE.finditer(text, opening.end()):
        if len(fence[1]) < len(opening["fence"]):
            continue
        depth += 1 if fence[2].strip() else -1
        if depth == 0:
            return fence
    return None


def _written_call(tool: str, arguments: str, content: str) -> Call:
    """A call whose input is not JSON: its parts under the tool's argument names."""
    first, second = ARGUMENTS.get(tool, ("args", "content"))
    tool_input = {first: arguments} if first and arguments else {}
    if first == "path" and second == "paths":  # one path after the language, or one on each line
        return Call(None, tool, tool_input or {second: [line for line in content.split("\n") if line]})
    return Call(None, tool, tool_input | {second: content})
