"""Inputs and outputs of tools: commands, changes, JSON; long outputs are folded."""

from __future__ import annotations

import re
from typing import Any

from stenograph.fold.actions import command_of
from stenograph.render.html import diff
from stenograph.render.html.ansi import Ansi
from stenograph.render.html.escape import line, pre, pre_of, text
from stenograph.render.html.highlight import Highlighter
from stenograph.render.tool_input import COMMANDS, SUMMARY_LENGTH, change_of, is_patch, path_of, says_all
from stenograph.transcript.content import as_text, indented

SHOWN_LINES = 12
"""Lines of a long output that are shown; a few more do not justify a fold."""
WORTH_LINES = 20
SHOWN_CHARACTERS = 4_000
_NUMBERED = re.compile(r" *(\d{1,7})(?:→|\t|\| ?|: )")
"""How the lines of a listed file begin."""
DEEPEST = 4


def input_html(
    tool_input: Any, *, full: bool, depth: int = 0, shown: str = "", highlighter: Highlighter | None = None
) -> str:
    """The input of a tool; `shown` is what its head shows already."""
    if tool_input is None or tool_input == {}:
        return ""
    if not isinstance(tool_input, dict) or depth >= DEEPEST:
        return folded(as_text(tool_input), full=full)
    rest = {name: value for name, value in tool_input.items() if not (shown and value == shown)}
    parts = _commands(rest) if depth == 0 else []  # deeper, the name `command` may mean anything, so it is kept
    found = change_of(tool_input)
    if found is not None:
        used, old, new = found
        if old or len(used) > 1:
            parts.append(_folded_change(diff.change(old, new), old, new, full=full))
        else:
            code = (highlighter or Highlighter()).pre(new, path=path_of(tool_input))
            parts.append(_folded_change(code, "", new, full=full))
        for name in used:
            rest.pop(name, None)
    small = {name: value for name, value in rest.items() if _is_small(value)} if depth == 0 else {}
    fields = "".join(_field(name, value, full=full, depth=depth) for name, value in rest.items() if name not in small)
    summary = " · ".join(f"{line(str(name))} {line(indented(value))}" for name, value in small.items())
    listed = f'<p class="args">{summary}</p>' if summary else ""
    return (f"<dl>{fields}</dl>" if fields else "") + "".join(parts) + listed


def _is_small(value: Any) -> bool:
    """Whether an argument is a number or a switch, which people seldom need."""
    return value is None or isinstance(value, bool | int | float)


def _commands(rest: dict[str, Any]) -> list[str]:
    """The commands in a tool's input, removed from `rest` where the command line holds all of it."""
    parts: list[str] = []
    for name in COMMANDS:
        command = command_of(rest.get(name))
        if command is not None:
            parts.append(pre(command, "command"))
            if says_all(command, rest[name]):
                del rest[name]
    return parts


def _folded_change(html: str, old: str, new: str, *, full: bool) -> str:
    lines = old.count("\n") + new.count("\n") + 2
    if full or lines <= 3 * WORTH_LINES:
        return html
    return f'<details class="more"><summary>a change of {lines:,} lines</summary>{html}</details>'


def _field(name: Any, value: Any, *, full: bool, depth: int) -> str:
    key = line(str(name))
    if isinstance(value, str) and ("\n" in value or len(value) > SUMMARY_LENGTH):
        return f"<dt>{key}</dt><dd>{folded(value, full=full)}</dd>"
    if isinstance(value, dict) and value:
        return f"<dt>{key}</dt><dd>{input_html(value, full=full, depth=depth + 1)}</dd>"
    if isinstance(value, list) and value and all(isinstance(item, dict) and item for item in value):
        items = "".join(f"<li>{input_html(item, full=full, depth=depth + 1)}</li>" for item in value)
        return f"<dt>{key}</dt><dd><ol>{items}</ol></dd>"
    shown = value if isinstance(value, str) else indented(value)
    return f'<dt>{key}</dt><dd><code dir="auto">{text(shown)}</code></dd>'


def folded(value: str, *, full: bool, kind: str = "") -> str:
    """An output: patches and colours as such; a long one is folded, with its size."""
    if is_patch(value) and "\x1b" not in value:
        html = diff.patch(value)
        return html if full else _folded_change(html, value, "", full=False)
    shown = Ansi().html if "\x1b[" in value else text
    at = len(value) if full else _cut(value)
    html = pre_of(shown(value[:at].removesuffix("\n")), kind)
    if at == len(value):
        return html
    rest = value[at:]
    lines = rest.count("\n") + (not rest.endswith("\n"))
    summary = f"{lines:,} more line{'s' if lines > 1 else ''}, {_size(len(rest))}"
    return f'{html}<details class="more"><summary>{summary}</summary>{pre_of(shown(rest), kind)}</details>'


def listing(value: str, path: str, highlighter: Highlighter, *, full: bool) -> str | None:
    """A file that was read, with its line numbers beside it; None where the lines have no numbers."""
    lines = value.split("\n")
    first = next((number for number, each in enumerate(lines[:4]) if _NUMBERED.match(each)), None)
    if first is None:
        return None
    last = first
    expected = None
    for each in lines[first:]:
        found = _NUMBERED.match(each)
        if found is None or int(found[1]) != (expected or int(found[1])):
            break
        expected = int(found[1]) + 1
        last += 1
    numbers = [match[1] for each in lines[first:last] if (match := _NUMBERED.match(each))]
    code = [_NUMBERED.sub("", each, count=1) for each in lines[first:last]]
    before, after = "\n".join(lines[:first]), "\n".join(lines[last:])
    at = len(code) if full or len(code) <= WORTH_LINES else SHOWN_LINES
    html = _gutter(numbers[:at], code[:at], path, highlighter)
    if at < len(code):
        more = _gutter(numbers[at:], code[at:], path, highlighter)
        html += f'<details class="more"><summary>{len(code) - at:,} more lines</summary>{more}</details>'
    return (pre(before) if before.strip() else "") + html + (folded(after, full=full) if after.strip() else "")


def _gutter(numbers: list[str], code: list[str], path: str, highlighter: Highlighter) -> str:
    lines = highlighter.pre("\n".join(code), path=path)
    return f'<div class="file">{pre(chr(10).join(numbers), "gutter")}{lines}</div>'


def _cut(value: str) -> int:
    """Where the part that is always shown ends."""
    at = 0
    for _ in range(SHOWN_LINES):
        found = value.find("\n", at)
        if found < 0:
            at = len(value)
            break
        at = found + 1
    if at < len(value) and value.count("\n", at, at + SHOWN_CHARACTERS) < WORTH_LINES - SHOWN_LINES:
        at = len(value) if len(value) - at < SHOWN_CHARACTERS else at
    return min(at, SHOWN_CHARACTERS) if len(value) > SHOWN_CHARACTERS + 500 else at


def _size(characters: int) -> str:
    return f"{characters:,} characters" if characters < 10_000 else f"{characters // 1000:,} thousand characters"
