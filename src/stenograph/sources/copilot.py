"""Copilot CLI's layout: one folder per session, whose `events.jsonl` holds its subagents, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from stenograph.sources.layout import Layout


class CopilotLayout(Layout):
    """`$COPILOT_HOME/session-state/<session>/events.jsonl`."""

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """The folder of all sessions."""
        return [Path(environment.get("COPILOT_HOME") or home / ".copilot") / "session-state"]

    def sessions(self, root: Path) -> Iterator[Path]:
        """Every session; a folder without a transcript is none yet."""
        yield from sorted(root.glob("*/events.jsonl"))

    def is_session(self, root: Path, path: Path) -> bool:
        """By its name, in a session's folder."""
        return path.parent.parent == root and path.name == "events.jsonl"

    def find(self, root: Path, session_id: str) -> Path | None:
        """The session's file, once it is there."""
        return next((path for path in self.sessions(root) if path.parent.name == session_id), None)
