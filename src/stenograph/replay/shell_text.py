"""The text of a shell command: which folders it names, and how a folder must be written at a place of it.

Theory of operation. A command is read as a shell reads it, as far as quoting goes: words, quotes, substitutions,
here-documents, comments, and scripts in the words of `sh -c`. Each character that stands for itself is noted with its
place in the text and with how other text is quoted there. A character that the shell acts on (a blank between words,
`$`, `*`) is noted as NUL, which is in no folder; quotes themselves are not noted. So folders are found however they are
spelled. Quotes within the old folder stay, before the new one, so those around it still match; the new one is written
as the place of the last character needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import NamedTuple

from stenograph.fold.actions import IS_SHELL

Quote = Callable[[str], str]
"""Writes a text so that a shell reads it as it was."""

_UNSAFE = re.compile(r"[^\w@%+=:,./-]")
_ACTIVE = "$*?[{"
_BLANK = " \t\n"
_ENDS_WORD = " \t\n;&|<>()"
_HERE = re.compile(r"<<(?P<tabs>-?)[ \t]*(?P<mark>\\?[A-Za-z_][\w-]*|'[^'\n]+'|\"[^\"\n]+\")")
_QUOTES = re.compile(r"[\\'\"]")
_GOES_ON = re.compile(r"[\w-]|\.\w")
_DEEPEST = 20
"""How many substitutions and scripts within one another are read; deeper ones are like any other text."""


def bare(text: str) -> str:
    """For a place without quotes."""
    return _UNSAFE.sub(lambda found: "'\n'" if found[0] == "\n" else f"\\{found[0]}", text)


def double(text: str) -> str:
    """For a place between double quotes."""
    return re.sub(r'([$`"\\])', r"\\\1", text)


def single(text: str) -> str:
    """For a place between single quotes."""
    return text.replace("'", r"'\''")


def _dollar_single(text: str) -> str:
    return re.sub(r"(['\\])", r"\\\1", text)


def _expanded(text: str) -> str:
    """For a here-document whose mark has no quotes, and for a command between backticks."""
    return re.sub(r"([$`\\])", r"\\\1", text)


def _plain(text: str) -> str:
    return text


def with_folders(command: str, folders: Mapping[str, str], *, only_clear: bool = False) -> str:
    """A command with folders replaced by others.

    With `only_clear`, folders are left where they may be read a second time and then be other words: within a word that
    is a text, such as `'rm -r /the folder'`.
    """
    return _replaced(command, _Scan(command).chars, folders, only_clear)


def word_with_folders(word: str, folders: Mapping[str, str]) -> str:
    """A word that no shell reads, with folders replaced where they are clear."""
    chars = [_Char(char, place, place + 1, (_plain,), 0) for place, char in enumerate(word)]
    return _replaced(word, chars, folders, True)


def words_of(command: str) -> list[str]:
    """The words of a command without their quotes, each as far as it is not the result of something."""
    words: dict[int, str] = {}
    for char in _Scan(command).chars:
        if char.word is not None:
            words[char.word] = words.get(char.word, "") + char.text
    return [word.partition("\0")[0] for word in words.values()]


class _Char(NamedTuple):
    text: str
    """What it means, one character."""
    start: int
    end: int
    quoting: tuple[Quote, ...]
    """How a text is quoted at its place, the innermost first."""
    word: int | None
    """The first character of its word; None in a here-document."""


def _replaced(command: str, chars: list[_Char], folders: Mapping[str, str], only_clear: bool) -> str:
    text = "".join(char.text for char in chars)
    found: dict[int, tuple[int, str]] = {}
    taken: set[int] = set()
    for folder in sorted(folders, key=len, reverse=True):
        for match in re.finditer(re.escape(folder), text):
            first, behind = match.span()
            if (
                taken.isdisjoint(range(first, behind))
                and _is_whole(command, chars[first].start, chars[behind - 1].end)
                and (not only_clear or _is_clear(text, chars, first, behind))
            ):
                taken.update(range(first, behind))
                found[first] = behind, folder
    pieces, done = [], 0
    for first, (behind, folder) in sorted(found.items()):
        pieces.append(command[done : chars[first].start])
        # Quotes and line continuations within the folder.
        pieces += [command[before.end : after.start] for before, after in pairwise(chars[first:behind])]
        pieces.append(_spelled(folders[folder], chars[behind - 1].quoting))
        done = chars[behind - 1].end
    return "".join([*pieces, command[done:]])


def _spelled(folder: str, quoting: tuple[Quote, ...]) -> str:
    for quote in quoting:
        folder = quote(folder)
    return folder


def _is_whole(command: str, start: int, end: int) -> bool:
    """Whether a path begins here, and the folder does not go on."""
    return not (re.search(r"[\w.-]\Z", command[:start][-1:]) or _GOES_ON.match(command, end))


def _is_clear(text: str, chars: list[_Char], first: int, behind: int) -> bool:
    """Whether the folder is one word, or a part of one, also for a program that splits its text into words again."""
    word = chars[first].word
    if text[behind : behind + 1] in (" ", "\t", "\n"):  # the name may go on: a blank between words is NUL here
        return False
    is_quoted = first > 0 and text[first - 1] in "\"'"
    return is_quoted or (word is not None and not any(char in _BLANK for char in text[word:first]))


class _Scan:
    """One reading of a command."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.chars: list[_Char] = []
        self._text = text
        self._at = 0
        self._depth = depth
        self._word: int | None = 0
        self._bodies: list[tuple[re.Pattern[str], str]] = []
        """Here-documents that begin after this line: what finds the last line, and the mark."""
        self._commands("", ())

    def _next(self, size: int = 1) -> str:
        return self._text[self._at : self._at + size]

    def _note(self, meaning: str, size: int, *quoting: Quote) -> None:
        self.chars.append(_Char(meaning, self._at, self._at + size, quoting, self._word))
        self._at += size

    def _act(self, size: int = 1) -> None:
        self._note("\0", size, _plain)

    def _commands(self, end: str, outer: tuple[Quote, ...]) -> None:
        """Read commands up to `end`, or to the end of the text; `outer` is how they are quoted themselves."""
        before, self._word = self._word, len(self.chars)
        words: list[str] = []
        parentheses = 0
        while self._at < len(self._text):
            char = self._next()
            if char == end and not parentheses:
                break
            if char in _ENDS_WORD:
                self._end_word(words)
                parentheses += (char == "(") - (char == ")" and parentheses > 0)
                if not (char == "<" and self._here()):
                    self._act()
                if char not in " \t":
                    words = []
                if char == "\n":
                    self._here_documents(outer)
                self._word = len(self.chars)
            elif char == "#" and self._word == len(self.chars):
                self._comment()
            else:
                self._piece(char, outer)
        self._end_word(words)
        self._word = before

    def _piece(self, char: str, outer: tuple[Quote, ...]) -> None:
        """Read a character of a word, or a quoted part of it."""
        if char == "\\" and self._next(2) == "\\\n":
            self._at += 2
        elif char == "\\":
            self._note(self._next(2)[-1], len(self._next(2)), bare, *outer)
        elif char == "'":
            self._quoted("'", "", single, outer)
        elif char == '"':
            self._quoted('"', '$`"\\', double, outer)
        elif self._next(2) == "$'":
            self._at += 1
            self._quoted("'", "'\\", _dollar_single, outer)
        elif not self._substitution(outer):
            self._act() if char in _ACTIVE else self._note(char, 1, bare, *outer)

    def _quoted(self, end: str, escapable: str, quote: Quote, outer: tuple[Quote, ...]) -> None:
        self._at += 1
        while self._at < len(self._text) and self._next() != end:
            self._literal(escapable, quote, outer)
        self._at += 1

    def _literal(self, escapable: str, quote: Quote, outer: tuple[Quote, ...]) -> None:
        """Read a character between quotes; `escapable` are those that a backslash makes literal."""
        char, pair = self._next(), self._next(2)
        if char == "\\" and escapable and len(pair) == 2 and pair[1] in escapable:
            self._note(pair[1], 2, quote, *outer)
        elif pair == "\\\n" and "$" in escapable:
            self._at += 2
        elif "$" in escapable and self._substitution(outer):
            pass
        elif (char == "$" and "$" in escapable) or (char == "\\" and quote is _dollar_single):
            self._act()
        else:
            self._note(char, 1, quote, *outer)

    def _substitution(self, outer: tuple[Quote, ...]) -> bool:
        """Read a command within a word, if one begins here."""
        is_old = self._next() == "`"
        if self._depth >= _DEEPEST or not (is_old or self._next(2) == "$("):
            return False
        self._depth += 1
        self._act(1 if is_old else 2)
        self._commands("`" if is_old else ")", (_expanded, *outer) if is_old else outer)
        if self._at < len(self._text):
            self._act()
        self._depth -= 1
        return True

    def _comment(self) -> None:
        while self._at < len(self._text) and self._next() != "\n":
            self._word = len(self.chars)
            self._note(self._next(), 1, _plain)

    def _here(self) -> bool:
        """Read the mark of a here-document, if one begins here and ends below."""
        found = _HERE.match(self._text, self._at)
        if found is None:
            return False
        mark = found["mark"]
        tabs = r"\t*" if found["tabs"] else ""
        last = re.compile(f"^{tabs}{re.escape(re.sub(_QUOTES, '', mark))}$", re.MULTILINE)
        if not last.search(self._text, found.end()):
            return False
        self._bodies.append((last, mark))
        self._act(found.end() - self._at)
        return True

    def _here_documents(self, outer: tuple[Quote, ...]) -> None:
        self._word = None
        bodies, self._bodies = self._bodies, []
        for last, mark in bodies:
            found = last.search(self._text, self._at)
            if found is None:
                continue
            is_raw = _QUOTES.match(mark) is not None
            while self._at < found.start():
                self._literal("" if is_raw else "$`\\", _plain if is_raw else _expanded, outer)
            if self._at < found.end():
                self._act(found.end() - self._at)

    def _end_word(self, words: list[str]) -> None:
        """Read a word again that is the script of a shell."""
        start = self._word or 0
        text = "".join(char.text for char in self.chars[start:])
        if not text:
            return
        if self._depth < _DEEPEST and _begins_script(words):
            around = self.chars[start:]
            self.chars[start:] = [
                _Char(
                    each.text,
                    around[each.start].start,
                    around[each.end - 1].end,
                    (*each.quoting, *around[each.start].quoting),
                    None if each.word is None else each.word + start,
                )
                for each in _Scan(text, self._depth + 1).chars
            ]
        words.append(text)


def _begins_script(words: list[str]) -> bool:
    """Whether the words before this one are a shell and its options, the last of them `-c`."""
    if not words or not re.fullmatch(r"-[a-z]*c", words[-1]):
        return False
    programs = [word for word in words if not word.startswith("-")]
    return bool(programs) and IS_SHELL.search(programs[-1]) is not None
