"""Which files are histories of Aider, and the sessions in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from stenograph.formats.aider.pieces import HEADING, START, Piece, pieces_of
from stenograph.formats.base import SURE, Identity
from stenograph.formats.layout import StoredSession, folder_of, last_name
from stenograph.formats.shared.digest import digest_of

VERSION = re.compile(r"\AAider v(\S+)")
MODEL = re.compile(r"\A(?:Main model|Model): (\S+) with ")


def is_history(head: bytes) -> bool:
    """Whether a file with this beginning is a history: its first words are the heading of a session."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(HEADING.encode())


def detect(records: Sequence[Any], path: str) -> int:
    """Sure by the heading; its records are lines of text."""
    return SURE if isinstance(records[0], str) and records[0].startswith(HEADING) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The first session."""
    lines = [record for record in records if isinstance(record, str)]
    if not detect(lines or [""], path):
        return Identity()
    said = [line.removeprefix("> ").rstrip() for line in lines[1:]]
    return _identity(lines[0].removeprefix(HEADING).strip(), said, path)


def _identity(started: str, texts: Sequence[str], path: str) -> Identity:
    """A session by its time, the name of its folder, and the first words in it: nothing has an id."""
    folder = folder_of(path) if "/" in path else ""
    words = "\n".join([last_name(folder), *texts[:1]])
    return Identity(
        native_id=f"{started.replace(' ', 'T')}-{digest_of('aider', words) >> 32:08x}" if started and texts else "",
        cwd=folder or None,
        agent_version=_first(VERSION, texts),
        model=_first(MODEL, texts),
    )


def _first(pattern: re.Pattern[str], texts: Iterable[str]) -> str | None:
    return next((found[1] for text in texts if (found := pattern.match(text)) is not None), None)


def sessions_in(data: bytes, path: str) -> list[StoredSession]:
    """Every session of a history that has any text, also one with words of the program only."""
    groups: list[list[Piece]] = []
    for piece in pieces_of(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")):
        if piece.kind == START or not groups:
            groups.append([])
        groups[-1].append(piece)
    return [_session(group, path) for group in groups if group[0].kind == START and len(group) > 1]


def _session(pieces: list[Piece], path: str) -> StoredSession:
    lines = [msgspec.json.encode(piece) + b"\n" for piece in pieces]
    state = digest_of("aider", b"".join(lines)) >> 1, sum(map(len, lines))  # numbers that fit into a database column
    return StoredSession(
        identity=_identity(pieces[0].text, [piece.text for piece in pieces[1:]], path),
        state=state,
        parent=lambda: (None, None),
        lines=lambda: iter(lines),
        lines_since=lambda _: None,
    )
