"""Examines the archive, agents' folders, journals and hooks, and lists what a person should know."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from stenograph.archive.index.schema import open_index
from stenograph.archive.keep.walk import Refused, Root
from stenograph.archive.store.home import Home
from stenograph.errors import RunNotFound, SourceError
from stenograph.formats.registry import broken_formats
from stenograph.model.moment import moment_of
from stenograph.query.doctor.agents import agents_of, folders_of
from stenograph.query.doctor.places import archive_state, journals_in, open_to_others
from stenograph.query.doctor.report import AgentState, ArchiveState, Finding, HookState, JournalState, Report
from stenograph.query.retention import Expiry

LITTLE_SPACE = 1 << 30
"""Bytes. With less free space on its disk an archive may soon be unable to store what agents write."""
LATE = timedelta(days=7)
"""Agents delete their transcripts after weeks; a sync should come well before."""
_SHOWN = 3


def examine(
    home: Home,
    roots: Sequence[Root],
    hooks: Iterable[HookState] = (),
    problems: Sequence[tuple[Path, str]] = (),
    expiries: Iterable[Expiry] = (),
) -> Report:
    """Examine an archive, the folders of agents and journals, and the logs of hooks. Nothing is changed.

    Works without an archive and with a damaged one. `problems` are lines of the logs of problems, each with its log.
    """
    refused: Refused = {}
    with _index(home) as (index, trouble):
        agents, runs, events = [], 0, 0
        try:
            agents = agents_of(roots, index, refused)
            if index is not None:
                runs, events = (index.execute(f"SELECT count(*) FROM {each}").fetchone()[0] for each in _COUNTED)
        except sqlite3.DatabaseError as error:
            trouble = f"the index of the archive cannot be read: {error}; run: steno sync --rebuild"
            agents, index = agents_of(roots, None, refused), None
        archive = archive_state(home, is_readable=index is not None, runs=runs, events=events)
    journals = [journals_in(folder) for folder in folders_of(roots)]
    hooks, now = list(hooks), datetime.now(UTC)
    findings = [
        *_of_archive(home, archive, trouble),
        *_of_permissions(home),
        *(Finding(kind="unreadable", message=_refusal(path, error)) for path, error in refused.items()),
        *(found for each in agents for found in _of_agent(each, archive)),
        *(found for each in journals for found in _of_journals(each)),
        *(found for each in hooks for found in _of_hooks(each)),
        *map(_of_retention, expiries),
        *_of_problems(problems, now),
        *_of_formats(),
    ]
    return Report(
        ok=not any(each.needs_person for each in findings),
        findings=tuple(findings),
        archive=archive,
        agents=tuple(agents),
        journals=tuple(journals),
        hooks=tuple(hooks),
        problems=tuple(line for _, line in problems[-20:]),
    )


def _of_retention(expiry: Expiry) -> Finding:
    what = f"{len(expiry.run_ids)} runs ({expiry.bytes:,} bytes)"
    if not expiry.run_ids:
        message = f"{expiry} keeps all of its runs"
    elif expiry.rule.apply:
        message = f"{expiry} will remove {what} at the next sync"
    else:
        message = f"{expiry} would remove {what}; it does so once it says apply = true"
    return Finding(kind="retention", message=message, needs_person=False)


_COUNTED = ("runs", "events")


@contextmanager
def _index(home: Home) -> Iterator[tuple[sqlite3.Connection | None, str | None]]:
    """The index, or a description of the problem where there should be an index and none can be read."""
    try:
        index = open_index(home.path, readonly=True)
    except RunNotFound:
        yield None, "the index is missing; run: steno sync --rebuild" if home.kept.is_dir() else None
        return
    except SourceError as error:
        yield None, str(error)
        return
    except sqlite3.DatabaseError as error:
        yield None, f"the index of the archive cannot be read: {error}; run: steno sync --rebuild"
        return
    try:
        yield index, None
    finally:
        with suppress(sqlite3.Error):
            index.close()


def _of_archive(home: Home, archive: ArchiveState, trouble: str | None) -> Iterator[Finding]:
    if trouble is not None:
        yield Finding(kind="index", message=trouble)
    elif not archive.is_there:
        message = f"there is no archive in {home.path} yet; run: steno sync"
        yield Finding(kind="no_archive", message=message, needs_person=False)
    if archive.free_bytes < LITTLE_SPACE:
        free = f"{archive.free_bytes / (1 << 20):.0f} MiB"
        yield Finding(kind="disk", message=f"only {free} are free where {home.path} is; make room")
    if archive.torn_packs:
        message = f"{archive.torn_packs} torn ends of packs were set aside in {home.kept}; nothing is to be done"
        yield Finding(kind="torn_pack", message=message, needs_person=False)


def _of_permissions(home: Home) -> Iterator[Finding]:
    found = open_to_others(home)
    if found:
        path, mode = found[0]
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        message = f"others can reach {path} (mode {mode:04o}){more}; run: chmod -R go= {shlex.quote(str(home.path))}"
        yield Finding(kind="permissions", message=message)


def _of_agent(state: AgentState, archive: ArchiveState) -> Iterator[Finding]:
    age = archive.last_sync_age_s
    is_late = archive.is_there and (age is None or age > LATE.total_seconds())
    if state.files_waiting:
        message = f"{state.agent}: {state.files_waiting} files are new or changed since they were kept; run: steno sync"
        yield Finding(kind="waiting", message=message, needs_person=is_late and archive.watcher_pid is None)
    if state.unknown_types:
        types = ", ".join(f"{name} ({number})" for name, number in list(state.unknown_types.items())[:_SHOWN])
        more = " …" if len(state.unknown_types) > _SHOWN else ""
        message = f"{state.agent}: types never seen before: {types}{more}; they are kept, an update may know them"
        yield Finding(kind="unknown_types", message=message, needs_person=False)
    if state.failed:
        message = f"{state.agent}: {state.failed} lines broke our mapping; they are kept, please report it"
        yield Finding(kind="failed_lines", message=message, needs_person=False)
    if state.missing_subagents:
        ids = ", ".join(run_id[:8] for run_id in state.missing_subagents[:_SHOWN])
        more = " …" if len(state.missing_subagents) > _SHOWN else ""
        message = (
            f"{state.agent}: runs with a subagent whose file is missing: {ids}{more}; it was deleted or never kept"
        )
        yield Finding(kind="missing_subagent", message=message, needs_person=False)
    if state.runs_only_here:
        message = (
            f"{state.agent}: {state.runs_only_here} runs are only in the archive, their files are gone; back it up"
        )
        yield Finding(kind="only_here", message=message, needs_person=False)


def _of_journals(state: JournalState) -> Iterator[Finding]:
    for path in state.torn:
        message = f"{path} ends in half a line; run: steno repair {shlex.quote(path)}"
        yield Finding(kind="torn_journal", message=message)


def _of_hooks(state: HookState) -> Iterator[Finding]:
    if state.problem is not None:
        yield Finding(kind="hooks", message=f"{state.agent}: {state.problem}; run: steno install {state.agent}")
    elif state.missing:
        names = ", ".join(state.missing)
        message = f"{state.agent}: hooks are missing or of an older version: {names}; run: steno install {state.agent}"
        yield Finding(kind="hooks", message=message)


def _of_problems(problems: Sequence[tuple[Path, str]], now: datetime) -> Iterator[Finding]:
    """What hooks and collectors failed to do in the last days, one finding for each log."""
    recent: dict[Path, list[str]] = {}
    for log, line in problems:
        at = moment_of(line.partition(" ")[0])
        if at is not None and now - at < LATE:
            recent.setdefault(log, []).append(line)
    for log, lines in recent.items():
        message = (
            f"{len(lines)} problems of recording in the last days, the last: {lines[-1]}; read {log}, then delete it"
        )
        yield Finding(kind="problems_log", message=message)


def _of_formats() -> Iterator[Finding]:
    for name, why in broken_formats().items():
        yield Finding(
            kind="format", message=f"the format {name} cannot be used: {why}; update its package or remove it"
        )


def _refusal(path: str, error: OSError) -> str:
    return f"cannot look at {path}: {error.strerror}; check its permissions"
