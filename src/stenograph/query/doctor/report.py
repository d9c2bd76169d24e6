"""The values of a diagnosis by `steno doctor`."""

from __future__ import annotations

from msgspec import Struct


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that a person should know."""

    kind: str
    message: str
    """What it is, in one line, and what to do."""
    needs_person: bool = True
    """False for a mere notice, which needs no action."""


class AgentState(Struct, frozen=True, kw_only=True):
    """What one agent left on this machine, and what the archive has of it."""

    agent: str
    format: str
    folders: tuple[str, ...] = ()
    """Where its files are looked for, as far as the folders exist."""
    files_seen: int = 0
    bytes_seen: int = 0
    files_kept: int = 0
    """Files of which the archive has bytes, gone ones included."""
    bytes_kept: int = 0
    """The size of their newest versions, before compression."""
    files_waiting: int = 0
    """Files that are new or have changed since they were kept."""
    files_gone: int = 0
    """Kept files that are no longer where they were."""
    files_skipped: int = 0
    """Files below its folders that no format recognizes."""
    runs: int = 0
    runs_only_here: int = 0
    """Runs whose only remaining files are the archive's."""
    lines: int = 0
    understood: int = 0
    """Lines that became events of a known type, those about the agent itself included."""
    system: int = 0
    """Events about the agent itself (`system.event`)."""
    unknown: int = 0
    """Lines of an unknown type; they are kept as `unknown` events."""
    malformed: int = 0
    """Lines that are not JSON; they are kept, too."""
    failed: int = 0
    """Lines on which our mapping failed; they are kept, too."""
    versions: dict[str, int] = {}
    """Files by the version of the agent that wrote them, where they name it."""
    unknown_types: dict[str, int] = {}
    """The unknown types, with the number of their lines."""
    missing_subagents: tuple[str, ...] = ()
    """Runs with a finished subagent call that has no transcript."""


class ArchiveState(Struct, frozen=True, kw_only=True):
    """The archive of this machine."""

    path: str
    is_there: bool
    is_readable: bool = False
    """Whether this program can read its index."""
    runs: int = 0
    events: int = 0
    kept_bytes: int = 0
    """Size of the packs."""
    index_bytes: int = 0
    torn_packs: int = 0
    """Torn ends of packs that were set aside after a crash."""
    last_sync_at: str | None = None
    last_sync_age_s: float | None = None
    watcher_pid: int | None = None
    """The process that runs `steno watch`; None when none does."""
    free_bytes: int = 0
    """Free bytes on its disk."""


class JournalState(Struct, frozen=True, kw_only=True):
    """Our own journals in one folder."""

    folder: str
    journals: int = 0
    bytes: int = 0
    being_written: int = 0
    torn: tuple[str, ...] = ()
    """Journals that end in half a line and that no process is writing."""


class HookState(Struct, frozen=True, kw_only=True):
    """The `steno` hooks of one agent."""

    agent: str
    settings: str
    installed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Hooks that `steno install` would add or change, where at least one is installed."""
    problem: str | None = None
    """Why the installed hooks cannot work, or why the settings cannot be read."""


class Report(Struct, frozen=True, kw_only=True):
    """Everything that was examined."""

    ok: bool
    """Whether nothing needs attention."""
    findings: tuple[Finding, ...]
    archive: ArchiveState
    agents: tuple[AgentState, ...]
    journals: tuple[JournalState, ...]
    hooks: tuple[HookState, ...]
    problems: tuple[str, ...]
    """The last lines of the logs of problems, which hooks and collectors write."""
