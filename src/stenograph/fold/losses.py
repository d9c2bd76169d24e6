"""The loss report: what another format keeps of a run, what it changes, and what it cannot hold.

One shape for every export and import. Each thing of a run is counted once as carried or dropped, under its kind
(`KINDS`); a drop may add a reason after a colon (`calls: left open`). A change says how something that was carried
differs from the original.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KINDS = (
    "system prompts",
    "user messages",
    "assistant messages",
    "texts",
    "thinking",
    "attachments",
    "commands",
    "stream chunks",
    "other blocks",
    "calls",
    "results",
    "usage",
    "system events",
    "errors",
    "lifecycle events",
    "unknown events",
    "subagents",
)
"""What is counted."""


class LossReport:
    """What an export or import carried, changed and dropped, each with its count and the first event it concerns."""

    def __init__(self, format: str, version: str = "", run_id: str = "") -> None:
        self.format = format
        self.version = version
        """The version of the format that was written or read; empty where it has none."""
        self.run_id = run_id
        self.carried: dict[str, int] = {}
        self._changed: dict[str, list[int]] = {}
        self._dropped: dict[str, list[int]] = {}

    def carry(self, kind: str, count: int = 1) -> None:
        """Count something that the format holds."""
        if count:
            self.carried[kind] = self.carried.get(kind, 0) + count

    def change(self, what: str, seq: int, count: int = 1) -> None:
        """Count something that was carried in another form."""
        _count(self._changed, what, seq, count)

    def drop(self, what: str, seq: int, count: int = 1) -> None:
        """Count something that the format does not hold: its kind, and after a colon the reason."""
        _count(self._dropped, what, seq, count)

    @property
    def changed(self) -> list[dict[str, Any]]:
        """What was carried in another form."""
        return _lines(self._changed)

    @property
    def dropped(self) -> list[dict[str, Any]]:
        """What was left out."""
        return _lines(self._dropped)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        return {
            "format": self.format,
            "version": self.version,
            "run_id": self.run_id,
            "carried": dict(self.carried),
            "changed": self.changed,
            "dropped": self.dropped,
        }

    def __str__(self) -> str:
        """One line for people."""
        return loss_line(self.to_dict())


def loss_line(losses: Mapping[str, Any]) -> str:
    """A report's plain values in one line for people."""
    parts = [_listed(name, losses[name]) for name in ("changed", "dropped") if losses[name]]
    return "; ".join(parts) or "nothing was lost"


def _count(lines: dict[str, list[int]], what: str, seq: int, count: int) -> None:
    if not count:
        return
    line = lines.get(what)
    if line is None:
        lines[what] = [count, seq]
    else:
        line[0] += count
        line[1] = min(line[1], seq)


def _lines(lines: dict[str, list[int]]) -> list[dict[str, Any]]:
    return [{"what": what, "count": count, "first_seq": seq} for what, (count, seq) in lines.items()]


def _listed(name: str, lines: list[dict[str, Any]]) -> str:
    return f"{name} " + ", ".join(f"{line['what']} ({line['count']})" for line in lines)
