"""How agents lay out their files: where they keep them, and which belong together.

Each agent's layout is a module of its own; this one has what they share. The defaults suit a file that stands alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from msgspec import Struct

from stenograph.formats.base import Identity
from stenograph.sources.detection import Detection
from stenograph.sources.files import Open, open_regular

Detect = Callable[[Path], Detection]
SideFile = Callable[[str], bytes | None]
"""Reads an output that the agent parked in a file of its own, by the name in the transcript; None where it is gone."""


def is_name(text: str) -> bool:
    """Whether a text, which a transcript may have made up, is the name of a file or folder and leads nowhere else."""
    return text not in ("", ".", "..") and not any(letter in text for letter in "/\\\0")


class Member(Struct, frozen=True, kw_only=True):
    """A file that belongs to a session beside its main one: one of its subagents."""

    path: Path
    parent_source: str | None = None
    parent_call_id: str | None = None
    """The call that spawned it, where that is known."""


State = tuple[int, int]


class StoredSession(Struct, frozen=True, kw_only=True):
    """One session of a file that holds many."""

    identity: Identity
    state: State | None = None
    """Another one as soon as something in it changed; None where nothing tells."""
    parent: Callable[[], tuple[str | None, str | None]]
    """The source and the call that spawned it, where they are known."""
    lines: Callable[[], Iterator[bytes]]
    """Reads it: lines of JSON, each with its newline."""
    lines_since: Callable[[State], list[bytes] | None]
    """Reads what changed after an earlier state; None where nothing tells what that is."""


class Layout:
    """One agent's way of laying out its files."""

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """The folders in which the agent keeps its transcripts, by its environment variables and a home folder."""
        return []

    def sessions(self, root: Path) -> Iterator[Path]:
        """The main file of every session below such a folder."""
        return iter(())

    def is_session(self, root: Path, path: Path) -> bool:
        """Whether a file is one of these by its place alone; where only its content tells, it is not."""
        return False

    def find(self, root: Path, session_id: str) -> Path | None:
        """The main file of one session below such a folder, as soon as there is one."""
        return None

    def members(
        self, session: Detection, detect: Detect, open: Open = open_regular, only: Collection[Path] | None = None
    ) -> list[Member]:
        """The files of the session's subagents in a stable order; none for a file that is no session's main one.

        With `only`, those of them that are among these: nothing is read for the others.
        """
        return []

    def parent_of(self, path: Path, open: Open = open_regular) -> tuple[str | None, str | None]:
        """The source and the call that spawned the file's subagent, as far as it can be told from the file alone."""
        return None, None

    def being_linked(self, paths: Iterable[Path]) -> set[Path]:
        """Those files of subagents of which the agent is writing, this very moment, which call spawned them."""
        return set()

    def separate(self, session: Path) -> Container[str]:
        """The sources of a session that have files of their own, by the session's main file."""
        return frozenset()

    def side_path(self, session: Path, session_id: str, name: str) -> Path | None:
        """Where an output is that the agent parked in a file of its own, by the name in the transcript.

        None for a name that is none: a transcript may not make us read any file it likes.
        """
        return None

    def side_file(self, session: Path, session_id: str, open: Open = open_regular) -> SideFile:
        """Reads the parked outputs of a session."""

        def read(name: str) -> bytes | None:
            path = self.side_path(session, session_id, name)
            try:
                if path is None:
                    return None
                with open(path) as file:
                    return file.read()
            except (OSError, ValueError):  # ValueError: no system has such a name
                return None

        return read

    def stored(self, path: Path, open: Open = open_regular) -> AbstractContextManager[list[StoredSession]] | None:
        """The sessions in a file that holds many, those of one run together; None where a file is one session."""
        return None
