"""Claude Code's layout: which subagent files belong to a session, and which call spawned each.

2.1 keeps them in `<session>/subagents/**/agent-*.jsonl` with a `.meta.json` each, 2.0 beside the session with the
session's id inside their lines, 1.0 in the session file itself.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from stenograph.errors import SourceError
from stenograph.formats.claude_code import agent_link, agent_meta
from stenograph.sources.detection import Detection, detect_file

FORMAT = "claude_code"


def subagent_files(session: Path, session_id: str) -> list[Path]:
    """The files of the session's subagents, in a stable order."""
    nested = sorted((session.parent / session.stem / "subagents").rglob("agent-*.jsonl"))
    beside = []
    for path in sorted(session.parent.glob("agent-*.jsonl")):
        try:
            found = detect_file(path)
        except SourceError:  # it has just been deleted: the agent cleans up as it likes
            continue
        if found.spec is not None and found.spec.name == FORMAT and found.identity.native_id == session_id:
            beside.append(path)
    return nested + beside


def parent_of(agent_file: Path, session: Path | None = None) -> tuple[str | None, str | None]:
    """The source and the call that spawned a subagent: by its sidecar (2.1) or its session's result lines (2.0)."""
    sidecar = agent_file.with_suffix(".meta.json")
    try:
        meta: Any = msgspec.json.decode(sidecar.read_bytes())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        meta = None
    if isinstance(meta, dict):
        return agent_meta(meta)
    call_id = None if session is None else _links(session).get(agent_file.stem.removeprefix("agent-"))
    return (None, None) if call_id is None else ("main", call_id)


def _links(session: Path) -> dict[str, str]:
    """Which call spawned which subagent, as the lines of a session's results tell."""
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
