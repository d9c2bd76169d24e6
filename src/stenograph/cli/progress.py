"""A progress bar on standard error with rate and remaining time; nothing where that is not a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from types import TracebackType
from typing import Self

import click

from stenograph.cli.terminal import cut, width
from stenograph.render.control_chars import on_one_line
from stenograph.render.figures import bar, duration

_BAR = 16
_PACE = 0.1
"""Seconds between two writes: drawing a line takes a terminal longer than indexing a file."""
_WARM = 1.0
"""Seconds before the rate is meaningful."""


class Progress:
    """One line that is overwritten, and erased at the end."""

    def __init__(self, what: str, *, in_bytes: bool = False, total: int = 0, is_shown: bool | None = None) -> None:
        """`what` is counted, in bytes or items; `total` may become known later, or never."""
        self._what = on_one_line(what)
        self._in_bytes = in_bytes
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._drawn = 0.0
        self._is_shown = sys.stderr.isatty() if is_shown is None else is_shown
        self._is_on_screen = False

    def add(self, more: int) -> None:
        """Add to what is done."""
        self.reach(self._done + more)

    def reach(self, done: int, of: int | None = None) -> None:
        """Set what is done and, if known, the total."""
        self._done, self._total = done, self._total if of is None else of
        now = time.monotonic()
        if self._is_shown and now - self._drawn >= _PACE:
            self._drawn, self._is_on_screen = now, True
            room = shutil.get_terminal_size().columns - 1
            text = cut(self.line(now - self._began), room)
            click.echo(f"\r{text}{' ' * (room - width(text))}", nl=False, err=True)

    def line(self, seconds: float) -> str:
        """The line as shown after this many seconds."""
        done, total = self._done, self._total
        parts = [f"{self._what} {self._amount(done)}" + (f" of {self._amount(total)}" if total else "")]
        if total:
            parts.insert(0, f"{bar(min(1.0, done / total), _BAR):{_BAR}}")
        if seconds >= _WARM and done:
            rate = done / seconds
            parts.append(f"{self._amount(rate)}/s")
            if total > done:
                parts.append(f"{duration((total - done) / rate)} left")
        return "  ".join(parts)

    def _amount(self, number: float) -> str:
        if not self._in_bytes:
            return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"
        return f"{number / (1 << 20):,.1f} MB"

    def close(self) -> None:
        """Erase the line."""
        if self._is_on_screen:
            self._is_on_screen = False
            click.echo(f"\r{' ' * (shutil.get_terminal_size().columns - 1)}\r", nl=False, err=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
