"""Claude Code's layout: which subagent files belong to a session, and which call spawned each.

2.1 keeps them in `<session>/subagents/**/agent-*.jsonl` with a `.meta.json` each, 2.0 beside the session with the
session's id inside their lines, 1.0 in the session file itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from stenograph.errors import SourceError
from stenograph.formats.claude_code.format import agent_link, agent_meta
from stenograph.sources.detection import Detection
from stenograph.sources.files import Open, open_regular
from stenograph.sources.layout import Detect, Layout, Member, is_name

FORMAT = "claude_code"
_LINK_SECONDS = 60.0  # far more than a sidecar is being written


class ClaudeLayout(Layout):
    """`$CLAUDE_CONFIG_DIR/projects/<project>/<session>.jsonl` and its subagents."""

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """The folder of all projects."""
        return [Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"]

    def sessions(self, root: Path) -> Iterator[Path]:
        """Every session of every project; subagent files go with theirs."""
        yield from (path for path in sorted(root.glob("*/*.jsonl")) if self.is_session(root, path))

    def is_session(self, root: Path, path: Path) -> bool:
        """In a project's folder, and no subagent's."""
        return path.parent.parent == root and path.suffix == ".jsonl" and not path.name.startswith("agent-")

    def find(self, root: Path, session_id: str) -> Path | None:
        """The session's file, in whichever project it is."""
        return next(root.glob(f"*/{session_id}.jsonl"), None)

    def members(
        self, session: Detection, detect: Detect, open: Open = open_regular, only: Collection[Path] | None = None
    ) -> list[Member]:
        """The files of the session's subagents, each with the call that spawned it."""
        if session.identity.source != "main":
            return []
        main, session_id = Path(session.path), session.identity.native_id
        paths = sorted((main.parent / main.stem / "subagents").rglob("agent-*.jsonl"))
        for path in sorted(main.parent.glob("agent-*.jsonl")):
            if only is not None and path not in only:
                continue
            try:
                found = detect(path)
            except SourceError:  # it has just been deleted: the agent cleans up as it likes
                continue
            if found.spec is not None and found.spec.name == FORMAT and found.identity.native_id == session_id:
                paths.append(path)
        parents = {path: _sidecar(path, open) for path in paths if only is None or path in only}
        links = _links(main, open) if any(parent is None for parent in parents.values()) else {}
        members = []
        for path, parent in parents.items():
            call_id = links.get(path.stem.removeprefix("agent-"))
            source, call = parent or (None if call_id is None else "main", call_id)
            members.append(Member(path=path, parent_source=source, parent_call_id=call))
        return members

    def parent_of(self, path: Path, open: Open = open_regular) -> tuple[str | None, str | None]:
        """What the sidecar tells (2.1)."""
        return _sidecar(path, open) or (None, None)

    def being_linked(self, paths: Iterable[Path]) -> set[Path]:
        """Those whose sidecar is written but has not its name yet (2.1); one that was left so never gets it."""
        wanted = set(paths)
        halves = [half for folder in {path.parent for path in wanted} for half in folder.glob("*.meta.json.tmp.*")]
        names = [(half, half.name.partition(".meta.json.tmp.")[0]) for half in halves if _is_new(half)]
        return {half.with_name(f"{name}.jsonl") for half, name in names} & wanted

    def separate(self, session: Path) -> Container[str]:
        """Those of subagents, as they are there when it is asked."""
        return _OwnFiles(session)

    def side_path(self, session: Path, session_id: str, name: str) -> Path | None:
        """Beside the session, wherever the agent says that it is: both may have been moved."""
        base = os.path.basename(name)  # noqa: PTH119  # the agent's text
        return session.parent / session_id / "tool-results" / base if is_name(session_id) and is_name(base) else None


class _OwnFiles:
    """The subagents of a session that have a file of their own."""

    def __init__(self, session: Path) -> None:
        self._session = session
        self._found: set[str] = set()

    def __contains__(self, source: object) -> bool:
        if source in self._found:
            return True
        agent_id = str(source).removeprefix("subagent:")
        if not is_name(agent_id):
            return False
        near, name = self._session.parent, f"agent-{agent_id}.jsonl"
        is_there = (near / name).is_file() or any((near / self._session.stem / "subagents").rglob(name))
        if is_there:
            self._found.add(str(source))
        return is_there


def _is_new(path: Path) -> bool:
    try:
        return abs(time.time() - path.stat().st_mtime) < _LINK_SECONDS
    except OSError:  # it has its name now
        return False


def _sidecar(agent_file: Path, open: Open) -> tuple[str | None, str | None] | None:
    """The source and the call that spawned a subagent, as its sidecar tells (2.1); None where there is none."""
    try:
        with open(agent_file.with_suffix(".meta.json")) as file:
            meta: Any = msgspec.json.decode(file.read())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return agent_meta(meta) if isinstance(meta, dict) else None


def _links(session: Path, open: Open) -> dict[str, str]:
    """Which call spawned which subagent, as the lines of a session's results tell: all there is in 2.0."""
    links: dict[str, str] = {}
    try:
        with open(session) as file:
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
