"""The durable file of a run: write, publish, read, follow, verify, repair; and the run API on top."""

from stenograph.journal.fanout import SubscriberStats
from stenograph.journal.follow import Follower, follow
from stenograph.journal.reader import JournalReader, read_events
from stenograph.journal.recorder import Recorder, RecorderStats
from stenograph.journal.repair import Repair, repair_journal
from stenograph.journal.run import Run, Step, start_run
from stenograph.journal.subscription import Subscription
from stenograph.journal.tool_call import ToolCall
from stenograph.journal.tree import run_tree
from stenograph.journal.verify import Finding, JournalReport, verify_journal

__all__ = [
    "Finding",
    "Follower",
    "JournalReader",
    "JournalReport",
    "Recorder",
    "RecorderStats",
    "Repair",
    "Run",
    "Step",
    "SubscriberStats",
    "Subscription",
    "ToolCall",
    "follow",
    "read_events",
    "repair_journal",
    "run_tree",
    "start_run",
    "verify_journal",
]
