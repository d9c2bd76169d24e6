"""Per agent: the files in its folders, and what the index says about those that are kept."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from stenograph.archive.keep.discovery import UNKNOWN
from stenograph.archive.keep.walk import Refused, Root, agent_names, path_text, walk
from stenograph.query.doctor.report import AgentState
from stenograph.sources.layouts import placed_formats

_SHOWN = 20
Statuses = dict[str, tuple[Any, ...]]
"""Files by their paths: size, time, inode, and what else is known."""
_KEPT = """
    SELECT path, format, run_id, kept, agent_version, lines, malformed, failed, unknown, unknown_types, size, mtime_ns,
      inode, is_present FROM files
"""
_RUNS = "SELECT format, count(*) FROM runs GROUP BY format"
_SYSTEM = """
    SELECT runs.format, count(*) FROM events JOIN runs ON runs.id = events.run WHERE events.type = 'system.event'
    GROUP BY runs.format
"""
_MISSING_SUBAGENTS = """
    SELECT DISTINCT runs.run_id, runs.agent_version FROM calls JOIN runs ON runs.id = calls.run
    WHERE runs.format = ? AND calls.name IN (SELECT value FROM json_each(?)) AND calls.result IS NOT NULL
      AND calls.error IS NULL
      AND NOT EXISTS (
        SELECT 1 FROM sources WHERE sources.run = calls.run AND sources.parent_call_id = calls.call_id
      )
    ORDER BY runs.run_id
"""


def agents_of(roots: Iterable[Root], index: sqlite3.Connection | None, refused: Refused) -> list[AgentState]:
    """The agents that have a folder here or files in the index; `refused` gets folders that cannot be read."""
    names = agent_names()
    drafts: dict[str, _Draft] = defaultdict(_Draft)
    skipped = _skipped(index)
    kept = [] if index is None else index.execute(_KEPT).fetchall()
    statuses = {row[0]: tuple(row[-4:]) for row in kept}
    for root in roots:
        draft = drafts[root.format or ""]
        draft.folders[str(root.path)] = None
        for seen in walk(root, refused):
            draft.see(path_text(seen.path), (seen.size, seen.mtime_ns, seen.inode), statuses, skipped)
    for row in kept:
        drafts[row[1]].keep(row)
    runs, system = ({} if index is None else dict(index.execute(query).fetchall()) for query in (_RUNS, _SYSTEM))
    missing = {} if index is None else _missing_subagents(index)
    return [
        draft.state(names.get(name, name), name, runs.get(name, 0), system.get(name, 0), missing.get(name, []))
        for name, draft in sorted(drafts.items())
    ]


class _Draft:
    """What is known of one agent so far."""

    def __init__(self) -> None:
        self.folders: dict[str, None] = {}
        self.numbers: Counter[str] = Counter()
        self.versions: Counter[str] = Counter()
        self.unknown_types: Counter[str] = Counter()
        self.present: dict[str, bool] = {}

    def see(self, path: str, status: tuple[int, ...], kept: Statuses, skipped: Statuses) -> None:
        self.numbers["files_seen"] += 1
        self.numbers["bytes_seen"] += status[0]
        if path in kept:
            self.numbers["files_waiting"] += kept[path][:3] != status
        elif path in skipped and skipped[path][:3] == status:
            self.numbers["files_skipped"] += skipped[path][3] == UNKNOWN
        else:
            self.numbers["files_waiting"] += 1

    def keep(self, row: tuple[Any, ...]) -> None:
        _, _, run_id, size, version, lines, malformed, failed, unknown, types, *_, is_present = row
        self.numbers.update(
            files_kept=1,
            bytes_kept=size,
            lines=lines,
            malformed=malformed,
            failed=failed,
            unknown=unknown,
            files_gone=int(not is_present),
        )
        if version:
            self.versions[version] += 1
        self.unknown_types.update(_types(types))
        self.present[run_id] = self.present.get(run_id, False) or bool(is_present)

    def state(self, agent: str, name: str, runs: int, system: int, missing: list[str]) -> AgentState:
        numbers = dict(self.numbers)
        return AgentState(
            agent=agent,
            format=name,
            folders=tuple(self.folders),
            runs=runs,
            runs_only_here=sum(not is_present for is_present in self.present.values()),
            understood=max(0, self.numbers["lines"] - sum(self.numbers[each] for each in _NOT_UNDERSTOOD)),
            system=system,
            versions=dict(self.versions.most_common()),
            unknown_types=dict(self.unknown_types.most_common()),
            missing_subagents=tuple(missing[:_SHOWN]),
            **numbers,
        )


_NOT_UNDERSTOOD = ("unknown", "malformed", "failed")


def _skipped(index: sqlite3.Connection | None) -> Statuses:
    query = "SELECT path, size, mtime_ns, inode, reason FROM skipped"
    return {} if index is None else {path: tuple(rest) for path, *rest in index.execute(query)}


def _types(text: str) -> dict[str, int]:
    try:
        return msgspec.json.decode(text, type=dict[str, int])
    except msgspec.MsgspecError:
        return {}


def _missing_subagents(index: sqlite3.Connection) -> dict[str, list[str]]:
    """By format, the runs with a finished subagent that has no file, where this agent version always writes one."""
    found: dict[str, list[str]] = {}
    for spec in placed_formats():
        rule = None if spec.layout is None else spec.layout.always_members
        if rule is not None:
            tools, since = rule
            rows = index.execute(_MISSING_SUBAGENTS, (spec.name, json.dumps(tools))).fetchall()
            found[spec.name] = [run_id for run_id, version in rows if _number(version) >= since]
    return found


def _number(version: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in (version or "").split(".") if part.isdigit())


def folders_of(roots: Iterable[Root]) -> list[Path]:
    """The folders among the roots that hold our own journals."""
    return [root.path for root in roots if root.format == "exchange"]
