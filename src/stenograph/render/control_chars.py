"""Makes control characters visible, so that a terminal does not apply them."""

from __future__ import annotations

import re

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_LONG = 1 << 20
_ASCII_CONTROLS = bytes([*range(9), *range(11, 32), 127])


def visible(text: str) -> str:
    """The text with every character shown that a terminal would apply."""
    if len(text) > _LONG:  # avoid a copy of it
        if _CONTROLS.search(text) is None:
            return text
    elif text.isascii():
        data = text.encode()
        if len(data.translate(None, _ASCII_CONTROLS)) == len(data):
            return text
    return _CONTROLS.sub(_shown, text.replace("\r\n", "\n"))


def on_one_line(text: str) -> str:
    """A name or an id with control characters and line breaks shown."""
    if text.isascii() and text.isprintable():
        return text
    return visible(text).replace("\n", "␊")


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)  # the control pictures: ␛ for escape
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
