"""The terminal: what may be written to it, how wide a text is, and whether it shows colours."""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache

import click

from stenograph.render.control_chars import on_one_line

_OBEYED = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_UNSAFE = re.compile(f"[{_OBEYED}]")
_UNSAFE_BUT_COLOURS = re.compile(f"\x1b\\[[\\d;]*m|[{_OBEYED}]")
_WIDEST_KNOWN = 4096


def say(text: str) -> None:
    """Print one line on standard error."""
    click.echo(f"steno: {on_one_line(text)}", err=True)


def escaped(data: bytes) -> bytes:
    r"""Data for a terminal: control characters as `\uXXXX`, which means the same in JSON."""
    text = data.decode("utf-8", "replace")
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def shown(text: str) -> str:
    """Text for a terminal: control characters made visible, except the colours that renderers write."""
    return _UNSAFE_BUT_COLOURS.sub(lambda found: found[0] if len(found[0]) > 1 else on_one_line(found[0]), text)


def wants_color() -> bool:
    """Whether to print colours: by NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE and CLICOLOR, else only on a terminal.

    NO_COLOR wins over all others.
    """
    variable = os.environ.get
    if "NO_COLOR" in os.environ:
        return False
    if variable("FORCE_COLOR", "0") not in ("", "0") or variable("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return sys.stdout.isatty() and variable("CLICOLOR") != "0" and variable("TERM") != "dumb"


@lru_cache(_WIDEST_KNOWN)
def width(text: str) -> int:
    """The columns that a terminal needs for a text without control characters."""
    if text.isascii() or _NARROW.fullmatch(text):
        return len(text)
    from wcwidth import wcswidth, wcwidth  # its tables take a while to load

    columns = wcswidth(text)
    return columns if columns >= 0 else sum(max(0, wcwidth(letter)) for letter in text)


_NARROW = re.compile(r"[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2500-\u257f]*")
"""Letters of Latin scripts, punctuation and lines, each one column wide."""


def cut(text: str, columns: int) -> str:
    """The text cut to this many columns, with `…` where it is cut."""
    if len(text) <= columns and width(text) <= columns:
        return text
    low, high = 0, min(len(text), max(columns, 0) * _MOST_CODES)
    while low < high:  # the longest beginning that fits with the dots
        middle = (low + high + 1) // 2
        low, high = (middle, high) if width(text[:middle]) <= columns - 1 else (low, middle - 1)
    return text[:low] + "…"


_MOST_CODES = 8
"""Code points per column at most: combining marks and joined emoji have no column of their own."""
