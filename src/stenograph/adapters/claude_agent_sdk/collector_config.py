"""TranscriptCollectorConfig: how a collector collects."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import force_setattr

from stenograph.errors import InvalidEvent


class TranscriptCollectorConfig(Struct, frozen=True, kw_only=True):
    """How a collector collects."""

    poll_interval: float = 0.25
    """Seconds between reads if no file watch works; with one, five seconds or this, whichever is longer."""
    subagent_discovery_interval: float = 1.0
    """Seconds between searches for subagent files if no file watch works."""
    max_read_bytes: int = 65536
    """How much is read at a time: limits memory, not how far a read goes."""
    emit_raw_json: bool = True
    """Whether logs include each source line unchanged; the journal has it anyway."""
    parse_entries: bool = True
    """False: one event per line, with its type, its time and the line itself; the content is not parsed."""
    quiet_period: float = 0.3
    """At the end: seconds without a new line after which the session counts as written."""
    drain_timeout: float = 5.0
    """At the end: seconds after which it stops waiting for that; lines that are there already are still read."""
    emit_raw: bool | None = None
    """The other spelling of `emit_raw_json`."""

    def __post_init__(self) -> None:
        if self.emit_raw is not None:
            force_setattr(self, "emit_raw_json", self.emit_raw)
        force_setattr(self, "emit_raw", self.emit_raw_json)
        for name in ("poll_interval", "subagent_discovery_interval", "max_read_bytes"):
            if not getattr(self, name) > 0:
                raise InvalidEvent(f"{name} is {getattr(self, name)!r}; it must be more than 0")
