"""Colours of terminal output as CSS classes.

Only colours and styles are applied, and only as one of a few classes; every other escape sequence is shown.
Colours beyond the sixteen become the nearest of them: the page's policy lets text choose only classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.render.html.escape import text

_SGR = re.compile(r"\x1b\[([0-9;:]{0,80})m")
_STYLES = {1: "bold", 2: "dim", 3: "italic", 4: "under", 7: "inverse", 9: "strike"}
_ENDS = {22: {"bold", "dim"}, 23: {"italic"}, 24: {"under"}, 27: {"inverse"}, 29: {"strike"}}
_PALETTE = [
    (0, 0, 0), (170, 0, 0), (0, 170, 0), (170, 85, 0), (0, 0, 170), (170, 0, 170), (0, 170, 170), (170, 170, 170),
    (85, 85, 85), (255, 85, 85), (85, 255, 85), (255, 255, 85), (85, 85, 255), (255, 85, 255), (85, 255, 255),
    (255, 255, 255),
]  # fmt: skip


class Ansi:
    """Renders terminal output piece by piece; a colour continues from the previous piece."""

    def __init__(self) -> None:
        self._ink = ""
        self._ground = ""
        self._styles: set[str] = set()

    def html(self, output: str) -> str:
        """The next piece, every element in it closed."""
        if "\x1b[" not in output:
            return self._span(output)
        parts: list[str] = []
        end = 0
        for match in _SGR.finditer(output):
            parts.append(self._span(output[end : match.start()]))
            self._apply(match[1])
            end = match.end()
        parts.append(self._span(output[end:]))
        return "".join(parts)

    def _span(self, output: str) -> str:
        classes = " ".join([*filter(None, (self._ink, self._ground)), *sorted(self._styles)])
        return f'<span class="{classes}">{text(output)}</span>' if classes and output else text(output)

    def _apply(self, codes: str) -> None:
        numbers = iter([int(code[-4:]) if code else 0 for code in re.split("[;:]", codes)])
        for number in numbers:
            if number == 0:
                self._ink = self._ground = ""
                self._styles = set()
            elif number in _STYLES:
                self._styles.add(_STYLES[number])
            elif number in _ENDS:
                self._styles -= _ENDS[number]
            else:
                self._paint(number, numbers)

    def _paint(self, number: int, more: Iterator[int]) -> None:
        if number in (38, 48):
            color = _extended(more)
            if color is not None and number == 38:
                self._ink = f"ink{color}"
            elif color is not None:
                self._ground = f"ground{color}"
        elif number == 39:
            self._ink = ""
        elif number == 49:
            self._ground = ""
        elif 30 <= number <= 37 or 90 <= number <= 97:
            self._ink = f"ink{number - 30 if number < 90 else number - 82}"
        elif 40 <= number <= 47 or 100 <= number <= 107:
            self._ground = f"ground{number - 40 if number < 100 else number - 92}"


def _extended(more: Iterator[int]) -> int | None:
    """The nearest of the sixteen to a colour of the 256, or to one in red, green and blue."""
    kind = next(more, 0)
    if kind == 5:
        number = next(more, 0)
        if number < 16:
            return number
        if number > 231:
            return _nearest(*[8 + 10 * (number - 232)] * 3)
        red, rest = divmod(number - 16, 36)
        return _nearest(*(level * 51 for level in (red, *divmod(rest, 6))))
    if kind == 2:
        return _nearest(next(more, 0), next(more, 0), next(more, 0))
    return None


def _nearest(red: int, green: int, blue: int) -> int:
    distances = [(red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2 for r, g, b in _PALETTE]
    return distances.index(min(distances))
