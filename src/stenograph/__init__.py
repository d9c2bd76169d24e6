"""One faithful transcript for every AI agent.

    from stenograph import start_run

    with start_run("review") as run:
        run.user("Review main.go for bugs.")
        run.assistant("It looks fine.")

The names below are public; value types are in `stenograph.model`.
"""

from stenograph.version import __version__ as __version__

TYPE_CHECKING = False  # type checkers take the name for true; importing it from `typing` would cost every start
if TYPE_CHECKING:
    from stenograph.adapters.collector import TranscriptCollector
    from stenograph.adapters.collector_config import TranscriptCollectorConfig
    from stenograph.bundle import DebugBundle, debug_bundle
    from stenograph.errors import InvalidEvent, RunNotFound, SourceError, StenographError, StoreError, StoreLocked
    from stenograph.journal.follow import follow
    from stenograph.journal.reader import read_events
    from stenograph.journal.recorder import Recorder
    from stenograph.journal.repair import repair_journal
    from stenograph.journal.run import Run, Step, start_run
    from stenograph.journal.subscription import Subscription
    from stenograph.journal.tree import run_tree
    from stenograph.journal.verify import verify_journal
    from stenograph.model import Event
    from stenograph.redact import default_masker
    from stenograph.transcript import (
        TranscriptEntry,
        TranscriptSummary,
        entries,
        format_transcript,
        reconstruct_transcript,
        summarize,
    )


_HOMES = {
    "DebugBundle": "stenograph.bundle",
    "Event": "stenograph.model",
    "InvalidEvent": "stenograph.errors",
    "Recorder": "stenograph.journal.recorder",
    "Run": "stenograph.journal.run",
    "RunNotFound": "stenograph.errors",
    "SourceError": "stenograph.errors",
    "StenographError": "stenograph.errors",
    "Step": "stenograph.journal.run",
    "StoreError": "stenograph.errors",
    "StoreLocked": "stenograph.errors",
    "Subscription": "stenograph.journal.subscription",
    "TranscriptCollector": "stenograph.adapters.collector",
    "TranscriptCollectorConfig": "stenograph.adapters.collector_config",
    "TranscriptEntry": "stenograph.transcript",
    "TranscriptSummary": "stenograph.transcript",
    "debug_bundle": "stenograph.bundle",
    "default_masker": "stenograph.redact",
    "entries": "stenograph.transcript",
    "follow": "stenograph.journal.follow",
    "format_transcript": "stenograph.transcript",
    "read_events": "stenograph.journal.reader",
    "reconstruct_transcript": "stenograph.transcript",
    "repair_journal": "stenograph.journal.repair",
    "run_tree": "stenograph.journal.tree",
    "start_run": "stenograph.journal.run",
    "summarize": "stenograph.transcript",
    "verify_journal": "stenograph.journal.verify",
}

__all__ = [
    "DebugBundle",
    "Event",
    "InvalidEvent",
    "Recorder",
    "Run",
    "RunNotFound",
    "SourceError",
    "StenographError",
    "Step",
    "StoreError",
    "StoreLocked",
    "Subscription",
    "TranscriptCollector",
    "TranscriptCollectorConfig",
    "TranscriptEntry",
    "TranscriptSummary",
    "debug_bundle",
    "default_masker",
    "entries",
    "follow",
    "format_transcript",
    "read_events",
    "reconstruct_transcript",
    "repair_journal",
    "run_tree",
    "start_run",
    "summarize",
    "verify_journal",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used: `import stenograph` and `steno --version` stay quick."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'stenograph' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES} - {"TYPE_CHECKING"})
