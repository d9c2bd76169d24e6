"""The values of an examination."""

from __future__ import annotations

from msgspec import Struct


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that a person should know."""

    kind: str
    message: str
    """What it is, in one line, and what to do."""
    needs_person: bool = True
    """False for what is worth knowing and asks for nothing."""


class AgentState(Struct, frozen=True, kw_only=True):
    """What one agent left on this machine, and what of it the archive has."""

    agent: str
    format: str
    folders: tuple[str, ...] = ()
    """Where its files are looked for, as far as the folders exist."""
    files_seen: int = 0
    bytes_seen: int = 0
    files_kept: int = 0
    """Files of which the archive has bytes, gone ones included."""
    bytes_kept: int = 0
    """Of their newest versions, before compression."""
    files_waiting: int = 0
    """Files that are new or have changed since they were kept."""
    files_gone: int = 0
    """Kept files that are not where they were any more."""
    files_skipped: int = 0
    """Files below its folders that no format knows."""
    runs: int = 0
    runs_only_here: int = 0
    """Runs of which no file is left but ours."""
    lines: int = 0
    understood: int = 0
    """Lines that became events of a known type, those about the agent itself included."""
    system: int = 0
    """Events about the agent itself (`system.event`)."""
    unknown: int = 0
    """Lines of a type that we do not know; they are kept as `unknown` events."""
    malformed: int = 0
    """Lines that are not JSON; they are kept, too."""
    failed: int = 0
    """Lines that broke our mapping; they are kept, too."""
    versions: dict[str, int] = {}
    """Files by the version of the agent that wrote them, where they say it."""
    unknown_types: dict[str, int] = {}
    """The types that we do not know, with the number of their lines."""
    missing_subagents: tuple[str, ...] = ()
    """Runs with a call of a subagent that ended and of which there is no transcript."""


class ArchiveState(Struct, frozen=True, kw_only=True):
    """The archive of this machine."""

    path: str
    is_there: bool
    is_readable: bool = False
    """Whether its index is one that this program reads."""
    runs: int = 0
    events: int = 0
    kept_bytes: int = 0
    """Size of the packs."""
    index_bytes: int = 0
    torn_packs: int = 0
    """Ends of packs that a crash left and that were set aside."""
    last_sync_at: str | None = None
    last_sync_age_s: float | None = None
    watcher_pid: int | None = None
    """The process that runs `steno watch`; None when none does."""
    free_bytes: int = 0
    """On its disk."""


class JournalState(Struct, frozen=True, kw_only=True):
    """Our own journals in one folder."""

    folder: str
    journals: int = 0
    bytes: int = 0
    being_written: int = 0
    torn: tuple[str, ...] = ()
    """Journals that end in half a line and that nobody is writing."""


class HookState(Struct, frozen=True, kw_only=True):
    """The hooks of one agent that call us."""

    agent: str
    settings: str
    installed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Those that `steno install` would add or change, where at least one is installed."""
    problem: str | None = None
    """Why the installed hooks cannot work, or why the settings cannot be read."""


class Report(Struct, frozen=True, kw_only=True):
    """Everything that was looked at."""

    ok: bool
    """Whether nothing needs a person."""
    findings: tuple[Finding, ...]
    archive: ArchiveState
    agents: tuple[AgentState, ...]
    journals: tuple[JournalState, ...]
    hooks: tuple[HookState, ...]
    problems: tuple[str, ...]
    """The last lines of the logs of problems, which hooks and collectors write."""
