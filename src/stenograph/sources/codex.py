"""Codex's layout: one rollout file per thread, by day; child threads are runs of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from stenograph.sources.layout import Layout


class CodexLayout(Layout):
    """`$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, archived ones in a folder beside."""

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """The live and the archived threads."""
        codex = Path(environment.get("CODEX_HOME") or home / ".codex")
        return [codex / "sessions", codex / "archived_sessions"]

    def sessions(self, root: Path) -> Iterator[Path]:
        """Every thread, the oldest day first."""
        yield from sorted(root.rglob("rollout-*.jsonl"))

    def is_session(self, root: Path, path: Path) -> bool:
        """By its name, on whatever day."""
        return path.name.startswith("rollout-") and path.suffix == ".jsonl"

    def find(self, root: Path, session_id: str) -> Path | None:
        """The newest file of a thread: a resumed one may have several."""
        found = [path for path in root.rglob("rollout-*.jsonl") if path.stem.endswith(f"-{session_id}")]
        return max(found, default=None)
