"""One faithful transcript for every AI agent.

    from stenograph import start_run

    with start_run("review") as run:
        run.user("Review main.go for bugs.")
        run.assistant("It looks fine.")

The names below are public, and loaded when they are used: `import stenograph` and `steno --version` stay quick.
Value types are in `stenograph.model`.
"""

from stenograph.lazy import on_use
from stenograph.version import __version__ as __version__

TYPE_CHECKING = False  # type checkers take the name for true; importing it from `typing` would cost every start
if TYPE_CHECKING:
    from stenograph.adapters.claude_agent_sdk.collector import TranscriptCollector
    from stenograph.adapters.claude_agent_sdk.collector_config import TranscriptCollectorConfig
    from stenograph.bundle import DebugBundle, debug_bundle
    from stenograph.errors import InvalidEvent, RunNotFound, SourceError, StenographError, StoreError, StoreLocked
    from stenograph.export.exporting import Export, export_run
    from stenograph.fleet.opening import open_archive
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
    from stenograph.runs.archive import Archive
    from stenograph.runs.info import RunInfo
    from stenograph.runs.opening import open_run
    from stenograph.runs.reader import RunReader
    from stenograph.transcript import (
        TranscriptEntry,
        TranscriptSummary,
        entries,
        format_transcript,
        reconstruct_transcript,
        summarize,
    )


_HOMES = {
    "Archive": "runs.archive",
    "DebugBundle": "bundle",
    "Event": "model",
    "Export": "export.exporting",
    "InvalidEvent": "errors",
    "Recorder": "journal.recorder",
    "Run": "journal.run",
    "RunInfo": "runs.info",
    "RunNotFound": "errors",
    "RunReader": "runs.reader",
    "SourceError": "errors",
    "StenographError": "errors",
    "Step": "journal.run",
    "StoreError": "errors",
    "StoreLocked": "errors",
    "Subscription": "journal.subscription",
    "TranscriptCollector": "adapters.claude_agent_sdk.collector",
    "TranscriptCollectorConfig": "adapters.claude_agent_sdk.collector_config",
    "TranscriptEntry": "transcript",
    "TranscriptSummary": "transcript",
    "debug_bundle": "bundle",
    "default_masker": "redact",
    "entries": "transcript",
    "export_run": "export.exporting",
    "follow": "journal.follow",
    "format_transcript": "transcript",
    "open_archive": "fleet.opening",
    "open_run": "runs.opening",
    "read_events": "journal.reader",
    "reconstruct_transcript": "transcript",
    "repair_journal": "journal.repair",
    "run_tree": "journal.tree",
    "start_run": "journal.run",
    "summarize": "transcript",
    "verify_journal": "journal.verify",
}

__all__ = [
    "Archive",
    "DebugBundle",
    "Event",
    "Export",
    "InvalidEvent",
    "Recorder",
    "Run",
    "RunInfo",
    "RunNotFound",
    "RunReader",
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
    "export_run",
    "follow",
    "format_transcript",
    "open_archive",
    "open_run",
    "read_events",
    "reconstruct_transcript",
    "repair_journal",
    "run_tree",
    "start_run",
    "summarize",
    "verify_journal",
]

__getattr__, __dir__ = on_use(globals(), _HOMES)
