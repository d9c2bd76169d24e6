"""Which runs have expired: those that a `[[keep]]` rule of the configuration no longer keeps. Nothing is changed here.

A run and the runs it called expire together, by the newest event of any of them. Only rules with `starred` apply to a
starred run. A run with an event within the last hour, or without any time, never expires.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from stenograph.config import KeepRule
from stenograph.query.scope import Scope

_DAY = 86_400_000
_FRESH = 3_600_000
"""A run whose last event is less than this many milliseconds ago may still continue."""


class Expiry(Struct, frozen=True, kw_only=True):
    """The runs that one rule no longer keeps."""

    number: int
    """The number of the rule, from 1."""
    rule: KeepRule
    run_ids: tuple[str, ...] = ()
    bytes: int = 0
    """The size of their kept files, before compression."""

    def __str__(self) -> str:
        """The rule as it is in the configuration."""
        fields = [f"{name} = {value!r}" for name, value in self.rule._asdict().items() if value not in (None, False)]
        return f"rule {self.number} of [[keep]] ({', '.join(fields) or 'everything'})"


class _Family(Struct):
    """A run with the runs it called."""

    root: int
    run_ids: list[str]
    ended_ms: int | None = None
    bytes: int = 0
    is_starred: bool = False


def expiries(index: sqlite3.Connection, rules: Sequence[KeepRule], starred: Iterable[str], now_ms: int) -> list[Expiry]:
    """What each rule no longer keeps, the oldest first; the first rule that matches a run decides."""
    if not rules:
        return []
    left = _families(index, set(starred))
    found = []
    for number, rule in enumerate(rules, 1):
        matching = set(_matching(index, rule))
        matched: list[_Family] = []
        others: list[_Family] = []
        for each in left:
            matches = each.root in matching and each.is_starred == bool(rule.starred)
            (matched if matches else others).append(each)
        left = others
        expired = list(_expired(rule, matched, now_ms))
        run_ids = tuple(run_id for each in expired for run_id in each.run_ids)
        found.append(Expiry(number=number, rule=rule, run_ids=run_ids, bytes=sum(each.bytes for each in expired)))
    return found


def _expired(rule: KeepRule, families: list[_Family], now_ms: int) -> Iterator[_Family]:
    total = sum(each.bytes for each in families)
    for each in sorted(families, key=lambda family: family.ended_ms or 0):
        if each.ended_ms is None or each.ended_ms > now_ms - _FRESH:
            continue
        is_old = rule.days is not None and each.ended_ms < now_ms - rule.days * _DAY
        if is_old or (rule.bytes is not None and total > rule.bytes):
            total -= each.bytes
            yield each


def _matching(index: sqlite3.Connection, rule: KeepRule) -> Iterator[int]:
    condition, parameters = Scope(agent=rule.agent, project=rule.project).at_any_time()
    return (number for (number,) in index.execute(f"SELECT runs.id FROM runs WHERE {condition}", parameters))


def _families(index: sqlite3.Connection, starred: set[str]) -> list[_Family]:
    query = """
        SELECT runs.id, runs.run_id, runs.parent_run_id, runs.ended_ms,
          (SELECT coalesce(sum(files.kept), 0) FROM files WHERE files.run_id = runs.run_id)
        FROM runs ORDER BY runs.id
    """
    rows = index.execute(query).fetchall()
    parents = {run_id: parent for _, run_id, parent, _, _ in rows}
    families: dict[str, _Family] = {}
    for number, run_id, _, ended_ms, size in rows:
        root = _root(run_id, parents)
        family = families.setdefault(root, _Family(root=number, run_ids=[]))
        if run_id == root:
            family.root = number
        family.run_ids.append(run_id)
        family.ended_ms = max((each for each in (family.ended_ms, ended_ms) if each is not None), default=None)
        family.bytes += size
        family.is_starred |= run_id in starred
    return list(families.values())


def _root(run_id: str, parents: dict[str, str | None]) -> str:
    """The ancestor of a run that no other run here called; on a cycle, the run where it closes."""
    seen = {run_id}
    while (parent := parents.get(run_id)) is not None and parent in parents and parent not in seen:
        seen.add(parent)
        run_id = parent
    return run_id
