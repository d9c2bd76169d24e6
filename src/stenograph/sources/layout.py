"""How agents lay out their files: where they keep them, and which belong together.

Each agent's layout is a module of its own; this one has what they share. The defaults suit a file that stands alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from msgspec import Struct

from stenograph.formats.base import Identity
from stenograph.sources.detection import Detection

Detect = Callable[[Path], Detection]
SideFile = Callable[[str], str | None]


class Member(Struct, frozen=True, kw_only=True):
    """A file that belongs to a session beside its main one: one of its subagents."""

    path: Path
    parent_source: str | None = None
    parent_call_id: str | None = None
    """The call that spawned it, where that is known."""


class StoredSession(Struct, frozen=True, kw_only=True):
    """One session of a file that holds many."""

    identity: Identity
    parent_source: str | None = None
    parent_call_id: str | None = None
    """The call that spawned it, where that is known."""
    lines: Callable[[], Iterator[bytes]]
    """Reads it: lines of JSON, each with its newline."""


class Layout:
    """One agent's way of laying out its files."""

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """The folders in which the agent keeps its transcripts, by its environment variables and a home folder."""
        return []

    def sessions(self, root: Path) -> Iterator[Path]:
        """The main file of every session below such a folder."""
        return iter(())

    def find(self, root: Path, session_id: str) -> Path | None:
        """The main file of one session below such a folder, as soon as there is one."""
        return None

    def members(self, session: Detection, detect: Detect) -> list[Member]:
        """The files of the session's subagents in a stable order; none for a file that is no session's main one."""
        return []

    def parent_of(self, path: Path) -> tuple[str | None, str | None]:
        """The source and the call that spawned the file's subagent, as far as it can be told from the file alone."""
        return None, None

    def is_being_linked(self, path: Path) -> bool:
        """Whether the agent is writing, this very moment, which call spawned the file's subagent."""
        return False

    def side_file(self, session: Path, session_id: str) -> SideFile | None:
        """Reads outputs that the agent parked in files of their own; None where it never does."""
        return None

    def stored(self, path: Path) -> AbstractContextManager[list[StoredSession]] | None:
        """The sessions in a file that holds many, those of one run together; None where a file is one session."""
        return None


def side_files_in(folder: Path) -> SideFile:
    """Reads the texts of a folder by their names, wherever the agent says that they are."""

    def read(name: str) -> str | None:
        # Only inside that folder: a transcript may not make us read any file it likes.
        path = folder / os.path.basename(name)  # noqa: PTH119  # the name is the agent's text, not a path of ours
        try:
            return path.read_text("utf-8", "replace")
        except OSError:
            return None

    return read
