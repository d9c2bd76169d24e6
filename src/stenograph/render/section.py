"""A titled list of lines for the terminal, shortened where it is long, and texts shortened to one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stenograph.render.control_chars import on_one_line


def section(title: str, rows: Iterable[str], most: int, command: str) -> Iterator[str]:
    """The lines of a list with its title; nothing for an empty list.

    Rows beyond `most` are counted, with the command that prints them: pages show these lines, too.
    """
    found = list(rows)
    if not found:
        return
    yield ""
    yield f"{title}:"
    yield from (f"  {on_one_line(row)}" for row in found[:most])
    if len(found) > most:
        yield f"  … and {len(found) - most} more (steno {command} --json has all)"


def short(text: str, most: int) -> str:
    """A text on one line of at most so many characters."""
    line = on_one_line(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"
