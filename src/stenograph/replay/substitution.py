"""What differs between the live and the recorded run: folders, and randomly generated ids."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import SequenceMatcher
from typing import Any

from stenograph.fold.actions import InputPlace
from stenograph.replay.shell_text import Quote, bare, double, single, with_folders

_TOKEN = re.compile(r"[A-Za-z0-9_-]+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DRAWN = re.compile(r"(?=\w*\d)(?=\w*[a-z])(?:[0-9a-f]{6,}|\w{12,})")
"""A generated id: hexadecimal, or long, and of letters and digits."""
_NUMBER = re.compile(r"\d{4,}")
_MOST_TOKENS = 4000
"""Results with more words are not compared word by word."""


class Folders:
    """Folders of the recording and their current counterparts."""

    def __init__(self, pairs: Mapping[str, str]) -> None:
        trimmed = {_trimmed(old): _trimmed(new) for old, new in pairs.items()}
        self.pairs = {old: new for old, new in trimmed.items() if "/" not in (old, new)}  # every path begins with that
        self._moved = {old: new for old, new in self.pairs.items() if old != new}
        self._is_quoted = any(bare(each) != each for pair in self._moved.items() for each in pair)
        self._back: dict[str, str] = {}
        for spell in _SPELLINGS:
            for old, new in self._moved.items():
                self._back.setdefault(spell(new), spell(old))
        self._to_live = _replacing(self._moved)
        self._to_recorded = _replacing(self._back)

    def to_live(self, text: str) -> str:
        """A recorded text with the current folders."""
        return text if self._to_live is None else self._to_live.sub(lambda found: self.pairs[found[0]], text)

    def command_to_live(self, command: str) -> str:
        """A recorded command with the current folders, each quoted as the shell needs it at its place."""
        return with_folders(command, self._moved) if self._is_quoted else self.to_live(command)

    def to_recorded(self, text: str) -> str:
        """A current text with the recorded folders, also where they are quoted as in a command."""
        if self._to_recorded is None:
            return text
        return self._to_recorded.sub(lambda found: self._back[found[0]], text)


_SPELLINGS: tuple[Quote, ...] = (
    str,
    bare,
    double,
    single,
    lambda each: double(bare(each)),
    lambda each: single(bare(each)),
)
"""How a folder may be written in a command; the last two in a script within quotes."""


def _trimmed(path: str) -> str:
    return path.rstrip("/") or "/"


def _replacing(folders: Iterable[str]) -> re.Pattern[str] | None:
    """Finds the folders where a path begins with them; the longest first."""
    moved = sorted(folders, key=len, reverse=True)
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, moved))})(?![\w-]|\.\w)") if moved else None


class DrawnIds:
    """Ids that the live run generated in place of recorded ones, as aligned results show them."""

    def __init__(self) -> None:
        self._live: dict[str, str] = {}
        self._recorded: dict[str, str] = {}
        self._numbers: dict[str, str] = {}
        """Numbers, which are replaced only where they are a whole value."""

    def learn(self, recorded: str, live: str) -> None:
        """Compare a recorded result with the live one."""
        for old, new in _aligned(_TOKEN.findall(recorded), _TOKEN.findall(live)):
            if old == new or len(old) != len(new):
                continue
            if (_UUID.fullmatch(old) and _UUID.fullmatch(new)) or (_DRAWN.fullmatch(old) and _DRAWN.fullmatch(new)):
                self._live.setdefault(old, new)
                self._recorded.setdefault(new, old)
            elif _NUMBER.fullmatch(old) and _NUMBER.fullmatch(new):
                self._numbers.setdefault(old, new)

    def to_live(self, text: str) -> str:
        """A recorded text with the current ids."""
        return _TOKEN.sub(lambda found: self._live.get(found[0], found[0]), text) if self._live else text

    def to_recorded(self, text: str) -> str:
        """A current text with the recorded ids."""
        return _TOKEN.sub(lambda found: self._recorded.get(found[0], found[0]), text) if self._recorded else text

    def number_to_live(self, value: int | str) -> int | str:
        """A whole value that is a number, with its current value."""
        new = self._numbers.get(str(value))
        return value if new is None else type(value)(new)


def _aligned(old: list[str], new: list[str]) -> Iterable[tuple[str, str]]:
    if len(old) == len(new):
        return list(zip(old, new, strict=True))
    if len(old) + len(new) > _MOST_TOKENS:
        return []
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [
        pair
        for kind, a, b, c, d in changes
        if kind == "replace" and b - a == d - c
        for pair in zip(old[a:b], new[c:d], strict=True)
    ]


class Substitution:
    """Folders and ids together."""

    def __init__(self, folders: Mapping[str, str]) -> None:
        self.folders = Folders(folders)
        self.ids = DrawnIds()

    def to_live(self, value: Any, shell_texts: Collection[InputPlace] = (), place: InputPlace = ()) -> Any:
        """The input of a recorded call, as it must be now; `shell_texts` are the places that a shell reads."""
        match value:
            case bool() | float() | None:
                return value
            case int():
                return self.ids.number_to_live(value)
            case str():
                whole = self.ids.number_to_live(value)
                moved = self.folders.command_to_live if place in shell_texts else self.folders.to_live
                return whole if whole != value else self.ids.to_live(moved(value))
            case list():
                return [self.to_live(each, shell_texts, (*place, number)) for number, each in enumerate(value)]
            case dict():
                return {
                    self.to_live(name): self.to_live(each, shell_texts, (*place, name)) for name, each in value.items()
                }
        return value

    def to_recorded(self, text: str) -> str:
        """A text of the live agent as the recorded agent would have said it."""
        return self.ids.to_recorded(self.folders.to_recorded(text))
