"""Claude Code's layout: which subagent files belong to a session, and which call spawned each.

2.1 keeps them in `<session>/subagents/**/agent-*.jsonl` with a `.meta.json` each, 2.0 beside the session with the
session's id inside their lines, 1.0 in the session file itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from stenograph.errors import SourceError
from stenograph.formats.claude_code import agent_link, agent_meta
from stenograph.sources.detection import Detection
from stenograph.sources.layout import Detect, Layout, Member, SideFile, side_files_in

FORMAT = "claude_code"


class ClaudeLayout(Layout):
    """`$CLAUDE_CONFIG_DIR/projects/<project>/<session>.jsonl` and its subagents."""

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """The folder of all projects."""
        return [Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"]

    def sessions(self, root: Path) -> Iterator[Path]:
        """Every session of every project; subagent files go with theirs."""
        yield from (path for path in sorted(root.glob("*/*.jsonl")) if not path.name.startswith("agent-"))

    def find(self, root: Path, session_id: str) -> Path | None:
        """The session's file, in whichever project it is."""
        return next(root.glob(f"*/{session_id}.jsonl"), None)

    def members(self, session: Detection, detect: Detect) -> list[Member]:
        """The files of the session's subagents, each with the call that spawned it."""
        if session.identity.source != "main":
            return []
        main, session_id = Path(session.path), session.identity.native_id
        paths = sorted((main.parent / main.stem / "subagents").rglob("agent-*.jsonl"))
        for path in sorted(main.parent.glob("agent-*.jsonl")):
            try:
                found = detect(path)
            except SourceError:  # it has just been deleted: the agent cleans up as it likes
                continue
            if found.spec is not None and found.spec.name == FORMAT and found.identity.native_id == session_id:
                paths.append(path)
        parents = {path: _sidecar(path) for path in paths}
        links = _links(main) if any(parent is None for parent in parents.values()) else {}
        members = []
        for path, parent in parents.items():
            call_id = links.get(path.stem.removeprefix("agent-"))
            source, call = parent or (None if call_id is None else "main", call_id)
            members.append(Member(path=path, parent_source=source, parent_call_id=call))
        return members

    def parent_of(self, path: Path) -> tuple[str | None, str | None]:
        """What the sidecar tells (2.1)."""
        return _sidecar(path) or (None, None)

    def is_being_linked(self, path: Path) -> bool:
        """Whether the sidecar is written but has not its name yet (2.1)."""
        return any(path.parent.glob(f"{path.stem}.meta.json.tmp.*"))

    def side_file(self, session: Path, session_id: str) -> SideFile:
        """Parked outputs of this session: by the name the agent gave, or beside the session when it was moved."""
        return side_files_in(session.parent / session_id / "tool-results")


def _sidecar(agent_file: Path) -> tuple[str | None, str | None] | None:
    """The source and the call that spawned a subagent, as its sidecar tells (2.1); None where there is none."""
    try:
        meta: Any = msgspec.json.decode(agent_file.with_suffix(".meta.json").read_bytes())
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
