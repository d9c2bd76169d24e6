"""Keeping what a live agent says and does: typed slices, reducers that fill them, snapshots, a bus."""

from stenograph.session.bus import Bus
from stenograph.session.events import PromptExecuted, PromptRendered, ToolInvoked
from stenograph.session.reducers import Append, Reducer, Replace, append_all, replace_latest, upsert_by
from stenograph.session.session import Session, SessionStats, SliceAccessor
from stenograph.session.slices import (
    JsonlSliceFactory,
    MemorySliceFactory,
    Slice,
    SliceFactory,
    SliceFactoryConfig,
    SlicePolicy,
    SliceStats,
    SliceView,
)
from stenograph.session.snapshot import Snapshot

__all__ = [
    "Append",
    "Bus",
    "JsonlSliceFactory",
    "MemorySliceFactory",
    "PromptExecuted",
    "PromptRendered",
    "Reducer",
    "Replace",
    "Session",
    "SessionStats",
    "Slice",
    "SliceAccessor",
    "SliceFactory",
    "SliceFactoryConfig",
    "SlicePolicy",
    "SliceStats",
    "SliceView",
    "Snapshot",
    "ToolInvoked",
    "append_all",
    "replace_latest",
    "upsert_by",
]
