"""Where a session keeps its slices: in memory or in files, by their policy."""

from __future__ import annotations

from msgspec import Struct

from stenograph.session.jsonl import JsonlSlice, JsonlSliceFactory
from stenograph.session.memory import MemorySlice, MemorySliceFactory
from stenograph.session.slice import Slice, SliceFactory, SlicePolicy, SliceStats, SliceView

__all__ = [
    "JsonlSlice",
    "JsonlSliceFactory",
    "MemorySlice",
    "MemorySliceFactory",
    "Slice",
    "SliceFactory",
    "SliceFactoryConfig",
    "SlicePolicy",
    "SliceStats",
    "SliceView",
]


class SliceFactoryConfig(Struct, frozen=True, kw_only=True):
    """Which storage serves which policy."""

    state_factory: SliceFactory = MemorySliceFactory()
    log_factory: SliceFactory = MemorySliceFactory()

    def factory(self, policy: SlicePolicy) -> SliceFactory:
        """The storage for slices of this policy."""
        return self.log_factory if policy is SlicePolicy.LOG else self.state_factory
