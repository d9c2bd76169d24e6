"""Calls and results as text in messages: tags with the names of tools, and the extension's answers."""

from __future__ import annotations

import re
from typing import NamedTuple

from stenograph.formats.cline_task.tools import TOOLS

_NAMES = "|".join(sorted(TOOLS, key=len, reverse=True))
_CALL = re.compile(rf"<({_NAMES})>(.*?)</\1>", re.DOTALL)
_FIELD = re.compile(r"<(\w+)>(.*?)</\1>", re.DOTALL)
_RESULT = re.compile(rf"\[({_NAMES})(?: for [^\n]*?)?\] Result:\s*", re.DOTALL)
_ENVIRONMENT = re.compile(r"<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_PROMPT = re.compile(r"\A\s*<(task|feedback|user_message|answer)>\n?(.*?)\n?</\1>\s*\Z", re.DOTALL)


class Call(NamedTuple):
    """A call that an answer writes as tags."""

    before: str
    name: str
    input: dict[str, str]
    after: str


def call_in(text: str) -> Call | None:
    """The first call in a text, with the words around it."""
    found = _CALL.search(text)
    if found is None:
        return None
    fields = {name: value.strip("\n") for name, value in _FIELD.findall(found[2])}
    return Call(text[: found.start()].strip(), found[1], fields, text[found.end() :].strip())


def result_in(text: str) -> tuple[str, str] | None:
    """The tool whose answer a text begins with, and the rest of it."""
    found = _RESULT.match(text)
    return None if found is None else (found[1], text[found.end() :])


def environment_in(text: str) -> tuple[str, str]:
    """A text without what the extension adds about the editor, and that addition."""
    found = _ENVIRONMENT.findall(text)
    return _ENVIRONMENT.sub("", text).strip("\n") if found else text, "\n".join(found)


def prompt_in(text: str) -> str:
    """What the user typed, without the tag around it."""
    found = _PROMPT.match(text)
    return text if found is None else found[2]
