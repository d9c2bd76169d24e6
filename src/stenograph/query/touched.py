"""Which calls read or changed a file: found by the words of its name, then checked by what each call does."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from stenograph.archive.index.tables import MS_PER_ID
from stenograph.archive.reader import IndexReader
from stenograph.errors import InvalidQuery
from stenograph.fold.actions import action
from stenograph.query.language import Phrase, parse_query
from stenograph.query.scope import Scope

_CANDIDATES = """
    SELECT events.id, runs.run_id, runs.agent, events.source, events.seq, events.timestamp, events.tool_name
    FROM words CROSS JOIN main.events AS events ON events.id = words.rowid
    CROSS JOIN main.runs AS runs ON runs.id = events.run
    WHERE words MATCH ? AND events.type = 'tool.call' AND {condition} ORDER BY words.rowid DESC
"""


class Touch(Struct, frozen=True, kw_only=True):
    """A call that names a file as one that it reads or changes."""

    run_id: str
    agent: str
    source: str
    seq: int
    timestamp: str
    tool_name: str | None
    path: str
    """As the agent wrote it."""
    kind: str
    """`read`, `search`, `write`, `edit`, `delete`, `move` …"""
    added: int = 0
    removed: int = 0


def touches(archive: IndexReader, path: str, scope: Scope, *, changes_only: bool = False) -> Iterator[Touch]:
    """The calls that read or changed a file, newest first; `path` is the whole path or the end of it.

    Shell commands are not among them: what they do to files cannot be known from their text.
    Raises `InvalidQuery` for a path without a letter or digit.
    """
    wanted = _parts(path)
    name = wanted[-1] if wanted else ""
    if not Phrase(name).words or '"' in name:
        raise InvalidQuery(f"{path!r} does not name a file; give its path or the end of it")
    condition, parameters = scope.of_moments("words.rowid", MS_PER_ID)
    query = _CANDIDATES.format(condition=condition)
    rows = archive.index.execute(query, [parse_query(f'"{name}"').match, *parameters]).fetchall()
    for number, run_id, agent, source, seq, timestamp, tool_name in rows:
        event = archive.event(number)
        if event is None:
            continue
        does = action(event)
        changes = {change.path: (change.kind, *change.lines) for change in does.changes}
        for each in does.paths:
            if _parts(each)[-len(wanted) :] != wanted or (changes_only and each not in changes):
                continue
            kind, added, removed = changes.get(each, (does.kind, 0, 0))
            yield Touch(
                run_id=run_id,
                agent=agent,
                source=source,
                seq=seq,
                timestamp=timestamp,
                tool_name=tool_name,
                path=each,
                kind=kind,
                added=added,
                removed=removed,
            )


def _parts(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
