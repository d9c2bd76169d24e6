"""Claude Code's layout: which subagent files belong to a session, and which call spawned each.

2.1 keeps them in `<session>/subagents/**/agent-*.jsonl` with a `.meta.json` each, 2.0 beside the session with the
session's id inside their lines, 1.0 in the session file itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from stenograph.errors import SourceError
from stenograph.formats.claude_code import agent_link, agent_meta
from stenograph.sources.detection import Detection

FORMAT = "claude_code"


class Subagent(Struct, frozen=True, kw_only=True):
    """A file of a session's subagent."""

    path: Path
    parent_source: str | None
    parent_call_id: str | None


def subagents(session: Path, session_id: str, detect: Callable[[Path], Detection]) -> list[Subagent]:
    """The files of the session's subagents in a stable order, each with the call that spawned it."""
    paths = sorted((session.parent / session.stem / "subagents").rglob("agent-*.jsonl"))
    for path in sorted(session.parent.glob("agent-*.jsonl")):
        try:
            found = detect(path)
        except SourceError:  # it has just been deleted: the agent cleans up as it likes
            continue
        if found.spec is not None and found.spec.name == FORMAT and found.identity.native_id == session_id:
            paths.append(path)
    parents = {path: parent_of(path) for path in paths}
    links = _links(session) if any(parent is None for parent in parents.values()) else {}
    found_agents = []
    for path, parent in parents.items():
        call_id = links.get(path.stem.removeprefix("agent-"))
        source, call = parent or (None if call_id is None else "main", call_id)
        found_agents.append(Subagent(path=path, parent_source=source, parent_call_id=call))
    return found_agents


def parent_of(agent_file: Path) -> tuple[str | None, str | None] | None:
    """The source and the call that spawned a subagent, as its sidecar tells (2.1); None where there is none."""
    sidecar = agent_file.with_suffix(".meta.json")
    try:
        meta: Any = msgspec.json.decode(sidecar.read_bytes())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return agent_meta(meta) if isinstance(meta, dict) else None


def _links(session: Path) -> dict[str, str]:
    """Which call spawned which subagent, as the lines of a session's results tell: all there is in 2.0."""
    links: dict[str, str] = {}
    try:
        with session.open("rb") as file:
            for line in file:
                if b'"agentId"' not in line:
                    continue
                try:
                    link = agent_link(msgspec.json.decode(line, type=dict[str, Any]))
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                    continue
                if link is not None:
                    links.setdefault(*link)
    except OSError:  # the session has just been deleted; whoever reads it will say so
        return links
    return links


def is_main_file(found: Detection) -> bool:
    """Whether a file is a session of its own, and not one of its subagents."""
    return found.spec is not None and found.spec.name == FORMAT and found.identity.source == "main"


def side_file_reader(session: Path, session_id: str) -> Any:
    """Reads parked outputs of this session: by the name the agent gave, or beside the session when it was moved."""
    folder = session.parent / session_id / "tool-results"

    def read(name: str) -> str | None:
        # Only inside the session's own folder: a transcript may not make us read any file it likes.
        path = folder / os.path.basename(name)  # noqa: PTH119  # the name is the agent's text, not a path of ours
        try:
            return path.read_text("utf-8", "replace")
        except OSError:
            return None

    return read
