"""Which run, prompt and event last changed a file, or one line of it.

A line is attributed to the newest change whose new text has that line: later changes by people and other programs are
not known here, and blank lines are not attributed. Calls that failed, and copies of calls in forks, are left
out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from stenograph.archive.index.words import event_text
from stenograph.archive.reader import IndexReader
from stenograph.fold.actions import Change, action
from stenograph.query.scope import Scope
from stenograph.query.touched import Touch, touches

_CALL = """
    SELECT runs.id, runs.cwd, calls.error, calls.copy_of FROM main.runs AS runs
    JOIN main.events AS events ON events.run = runs.id AND events.seq = ?
    LEFT JOIN main.calls AS calls ON calls.run = runs.id AND calls.call = events.id WHERE runs.run_id = ?
"""
_PROMPT = """
    SELECT id, seq FROM main.events WHERE run = ? AND type = 'message.user' AND source = 'main' AND seq <= ?
    ORDER BY seq DESC LIMIT 1
"""


class Blamed(Struct, frozen=True, kw_only=True):
    """One change of a file."""

    run_id: str
    agent: str
    source: str
    seq: int
    timestamp: str
    tool: str | None
    path: str
    """As the agent wrote it."""
    kind: str
    """`write`, `edit`, `delete` or `move`."""
    added: int
    removed: int
    prompt: str | None
    """The prompt that led to the change."""
    prompt_seq: int | None


def blame(archive: IndexReader, path: str, scope: Scope, line: str | None = None) -> Iterator[Blamed]:
    """The changes of a file, newest first; with `line`, only those whose new text has that line.

    A path that exists, or is absolute, is that one file; any other is the end of a path.
    """
    whole = os.path.realpath(path) if os.path.isabs(path) or Path(path).exists() else None  # noqa: PTH117  # text
    wanted = Path(path).name if whole is not None else path
    for touch in touches(archive, wanted, scope, changes_only=True):
        run, cwd, error, copy_of = archive.index.execute(_CALL, (touch.seq, touch.run_id)).fetchone()
        is_meant = whole is None or _absolute(touch.path, cwd) == whole
        if error is None and copy_of is None and is_meant and (line is None or _has_line(archive, run, touch, line)):
            yield _blamed(archive, run, touch)


def _absolute(path: str, cwd: str | None) -> str:
    return os.path.realpath(Path(cwd or "/", path))


def _has_line(archive: IndexReader, run: int, touch: Touch, line: str) -> bool:
    wanted = line.strip()
    return any(
        wanted in {each.strip() for each in _new_lines(change)}
        for event in archive.events(run, touch.seq, touch.seq)
        for change in action(event).changes
        if change.path == touch.path
    )


def _new_lines(change: Change) -> Iterator[str]:
    if change.patch is not None:
        yield from (each[1:] for each in change.patch.split("\n") if each.startswith("+") and each[:3] != "+++")
        return
    old = set((change.old or "").split("\n"))
    yield from (each for each in (change.new or "").split("\n") if each not in old)


def _blamed(archive: IndexReader, run: int, touch: Touch) -> Blamed:
    found = archive.index.execute(_PROMPT, (run, touch.seq)).fetchone()
    prompt = None if found is None else archive.event(found[0])
    return Blamed(
        run_id=touch.run_id,
        agent=touch.agent,
        source=touch.source,
        seq=touch.seq,
        timestamp=touch.timestamp,
        tool=touch.tool_name,
        path=touch.path,
        kind=touch.kind,
        added=touch.added,
        removed=touch.removed,
        prompt=None if prompt is None else event_text(prompt),
        prompt_seq=None if found is None else found[1],
    )
