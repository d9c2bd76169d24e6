"""The context with which a file's parser is opened, by what was found at its beginning and around it."""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from pathlib import Path

from msgspec.structs import replace

from stenograph.errors import SourceError
from stenograph.formats.base import Context, run_id_of
from stenograph.formats.layout import StoredSession
from stenograph.formats.shared.side_text import side_text
from stenograph.formats.source_file import SourceFile
from stenograph.sources.detection import Detection
from stenograph.sources.layout import Member, SideFile
from stenograph.sources.layouts import layout_of

STREAM = "-"
"""The name of a stream, in place of a path."""


def source_file(found: Detection, main: Path | None = None, member: Member | None = None) -> SourceFile:
    """The file that was found, in a known format; with `main` and `member`, as a subagent's file of that session."""
    assert found.spec is not None
    identity, name = found.identity, found.spec.name
    parent = identity.parent_native_id
    return SourceFile(
        path=found.path,
        format=name,
        is_document=found.is_document,
        native_id=identity.native_id,
        run_id=found.run_id,
        parent_run_id=None if parent is None else run_id_of(name, parent),
        source=identity.source,
        file=None if main is None else os.path.relpath(found.path, main.parent),
        session_id=identity.session_id,
        parent_source=None if member is None else member.parent_source,
        parent_call_id=None if member is None else member.parent_call_id,
        at=found.at,
        cwd=identity.cwd,
        agent_version=identity.agent_version,
        beginning=found.beginning if found.is_nameless else "",
        branch=identity.branch,
        model=identity.model,
        agent=identity.agent,
    )


def stored_file(found: Detection, session: StoredSession) -> tuple[Detection, Member]:
    """One session of a file that holds many, as a file of lines, and what spawned it."""
    source, call_id = session.parent()
    inside = replace(found, identity=session.identity, is_document=False)
    return inside, Member(path=Path(found.path), parent_source=source, parent_call_id=call_id)


def context_of(
    found: Detection, main: Path | None = None, member: Member | None = None, *, keep_raw: bool = True
) -> Context:
    """The context of a file's parser; with `main` and `member`, of a subagent's file of that session.

    Raises `SourceError` for a file that holds many sessions: its bytes are not lines.
    """
    if found.path == STREAM:
        return source_file(found, main, member).context(keep_raw=keep_raw)
    assert found.spec is not None
    path = Path(found.path)
    layout = layout_of(found.spec.name)
    separate: Container[str] = frozenset()
    if member is None:
        if layout.stored(path) is not None:
            raise SourceError(f"{path} holds many sessions and cannot be followed; steno convert reads it", str(path))
        source, call_id = layout.parent_of(path)
        member = Member(path=path, parent_source=source, parent_call_id=call_id)
        separate = layout.separate(path)
    side_file = _text_of(layout.side_file(main or path, found.identity.native_id))
    return source_file(found, main, member).context(keep_raw=keep_raw, separate=separate, side_file=side_file)


def _text_of(read: SideFile) -> Callable[[str], str | None]:
    """A function that reads side files as text, for a parser."""

    def text(name: str) -> str | None:
        data = read(name)
        return None if data is None else side_text(name, data)

    return text
