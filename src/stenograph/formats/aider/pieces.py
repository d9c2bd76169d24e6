"""The pieces of a history: what the user typed, what the program said, and what the model answered.

The program writes a piece at once. A session begins with a heading. A line of the user begins with `#### ` and ends
with two blanks. A piece of the program begins with `> `, and its last line ends with two blanks; the lines between have
no mark. Everything else is the model's. A line of the model that looks like one of these is taken for it: the file does
not distinguish them. A `> ` that is not ended before the next mark was a quotation by the model.
"""

from __future__ import annotations

from msgspec import Struct

HEADING = "# aider chat started at "
_USER, _PROGRAM, _END = "#### ", "> ", "  "
START, USER, PROGRAM, MODEL = "start", "user", "program", "model"


class Piece(Struct, frozen=True):
    """A piece of a history."""

    kind: str
    """`start`, `user`, `program` or `model`."""
    text: str
    line: int
    """Its first line, by its number in the file, from 1."""


class Pieces:
    """Cuts lines into pieces, line by line. It can be pickled."""

    def __init__(self) -> None:
        self._line = 0
        self._kind = ""
        self._lines: list[str] = []
        self._at = 0
        self._held: list[str] = []
        """Lines of a piece of the program that is not ended yet."""

    def add(self, line: str) -> list[Piece]:
        """The pieces that this line completes; it comes without its newline."""
        self._line += 1
        line = line.removesuffix("\r")
        if self._held and not line.startswith((_USER, _PROGRAM, HEADING)):
            self._held.append(line)
            return self._said() if line.endswith(_END) else []
        done = self._take_back(self._line - 1)
        if line.startswith(HEADING):
            return [*done, *self._whole(), Piece(START, line.removeprefix(HEADING).strip(), self._line)]
        if line.startswith(_USER) and line.endswith(_END):
            return done + self._typed(line)
        if line.startswith(_PROGRAM):
            self._held = [line]
            return done + (self._said() if line.endswith(_END) else [])
        return done + self._answered(line)

    def end(self) -> list[Piece]:
        """The rest, at the end of the file."""
        return self._take_back(self._line) + self._whole()

    def _whole(self) -> list[Piece]:
        """The current piece, which has ended."""
        text = "\n".join(self._lines).strip("\n")
        found = [Piece(self._kind, text, self._at)] if text.strip() else []
        self._kind, self._lines = "", []
        return found

    def _typed(self, line: str) -> list[Piece]:
        done = [] if self._kind == USER else self._whole()
        if not self._lines:
            self._kind, self._at = USER, self._line
        self._lines.append(line.removeprefix(_USER).removesuffix(_END))
        return done

    def _said(self) -> list[Piece]:
        """A complete piece of the program."""
        held, self._held = self._held, []
        text = "\n".join(held).removeprefix(_PROGRAM).rstrip()
        return [*self._whole(), Piece(PROGRAM, text, self._line - len(held) + 1)]

    def _take_back(self, last: int) -> list[Piece]:
        """Give the held lines, up to this one, to the model: they were not the program's."""
        held, self._held = self._held, []
        if not held:
            return []
        done = [] if self._kind == MODEL else self._whole()
        if self._kind != MODEL:
            self._kind, self._at = MODEL, last - len(held) + 1
        self._lines += held
        return done

    def _answered(self, line: str) -> list[Piece]:
        if self._kind != MODEL:
            done = self._whole()
            if line.strip():
                self._kind, self._at, self._lines = MODEL, self._line, [line]
            return done
        self._lines.append(line)
        return []


def pieces_of(text: str) -> list[Piece]:
    """All pieces of a history."""
    cutting = Pieces()
    found = [piece for line in text.split("\n") for piece in cutting.add(line)]
    return found + cutting.end()
