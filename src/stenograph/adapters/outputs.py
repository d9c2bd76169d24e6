"""Outputs: where the events of a live agent go."""

from __future__ import annotations

import logging

from msgspec import Struct

from stenograph.journal.recorder import Mask, Recorder
from stenograph.journal.run import Run, Step
from stenograph.session import Session
from stenograph.text_transcripts import ThreadTranscripts

Target = Recorder | Run | Step


class Outputs(Struct, frozen=True, kw_only=True):
    """The receivers of the events and entries of one evaluation. Each is optional and independent of the others."""

    recorder: Target | None = None
    """Gets the events: a recorder, a run, or a step of one."""
    session: Session | None = None
    """Gets the entries."""
    session_id: str | None = None
    """The id for events that name no session of the agent; by default the `session`'s own id."""
    logger: logging.Logger | None = None
    """Logs the entries; by default the adapter's own logger."""
    log: bool = True
    """Whether anything is logged."""
    emit_raw: bool = True
    """Whether log records include the source line of their entry."""
    mask: Mask | None = None
    """The mask if nothing is recorded; a recorder has its own."""
    text_transcripts: ThreadTranscripts | None = None
    """Writes every unit that has ended."""

    @property
    def own_session_id(self) -> str | None:
        """The id for what names no session of the agent."""
        return self.session_id or (None if self.session is None else str(self.session.session_id))

    @property
    def run_id(self) -> str | None:
        """The run that is recorded, if any."""
        if self.recorder is None:
            return None
        return self.recorder.run_id if isinstance(self.recorder, Recorder) else self.recorder.run.run_id

    @property
    def masking(self) -> Mask | None:
        """The mask for an event that could not be recorded."""
        if self.mask is not None or self.recorder is None:
            return self.mask
        return self.recorder.mask if isinstance(self.recorder, Recorder) else self.recorder.run.mask
