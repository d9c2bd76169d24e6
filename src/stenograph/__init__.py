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
    from stenograph.errors import InvalidEvent, RunNotFound, SourceError, StenographError, StoreError, StoreLocked
    from stenograph.journal import (
        Recorder,
        Run,
        Step,
        Subscription,
        follow,
        read_events,
        repair_journal,
        run_tree,
        start_run,
        verify_journal,
    )
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
    "Event": "stenograph.model",
    "InvalidEvent": "stenograph.errors",
    "Recorder": "stenograph.journal",
    "Run": "stenograph.journal",
    "RunNotFound": "stenograph.errors",
    "SourceError": "stenograph.errors",
    "StenographError": "stenograph.errors",
    "Step": "stenograph.journal",
    "StoreError": "stenograph.errors",
    "StoreLocked": "stenograph.errors",
    "Subscription": "stenograph.journal",
    "TranscriptCollector": "stenograph.adapters.collector",
    "TranscriptCollectorConfig": "stenograph.adapters.collector_config",
    "TranscriptEntry": "stenograph.transcript",
    "TranscriptSummary": "stenograph.transcript",
    "default_masker": "stenograph.redact",
    "entries": "stenograph.transcript",
    "follow": "stenograph.journal",
    "format_transcript": "stenograph.transcript",
    "read_events": "stenograph.journal",
    "reconstruct_transcript": "stenograph.transcript",
    "repair_journal": "stenograph.journal",
    "run_tree": "stenograph.journal",
    "start_run": "stenograph.journal",
    "summarize": "stenograph.transcript",
    "verify_journal": "stenograph.journal",
}

__all__ = [
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
