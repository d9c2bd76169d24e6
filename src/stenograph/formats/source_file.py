"""SourceFile: an agent's file and who speaks in it; the one value used to convert, follow and archive it."""

from __future__ import annotations

from collections.abc import Callable, Container

from msgspec import Struct

from stenograph.formats.base import Context


class SourceFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a file besides its bytes: enough to read it without detecting it again."""

    path: str
    format: str
    is_document: bool = False
    """One JSON document instead of lines."""
    native_id: str = ""
    """The agent's own id of the run."""
    run_id: str
    parent_run_id: str | None = None
    source: str = "main"
    """Who speaks in it: `main`, or `subagent:<id>`."""
    file: str | None = None
    """Its name relative to the run's main file; None for the main file itself."""
    session_id: str | None = None
    parent_source: str | None = None
    parent_call_id: str | None = None
    """With `parent_source`: the call that spawned its speaker."""
    at: str
    """The file's modification time."""
    cwd: str | None = None
    agent_version: str | None = None
    beginning: str = ""
    """What a file that names no run begins with: see `Detection.beginning`. Empty where it names its run."""
    branch: str | None = None
    model: str | None = None
    agent: str | None = None
    """Which agent wrote it, if the format does not say."""

    def context(
        self,
        *,
        keep_raw: bool = True,
        separate: Container[str] = frozenset(),
        is_growing: bool = False,
        side_file: Callable[[str], str | None] | None = None,
    ) -> Context:
        """The context for its parser."""
        return Context(
            run_id=self.run_id,
            parent_run_id=self.parent_run_id,
            source=self.source,
            file=self.file,
            session_id=self.session_id,
            parent_source=self.parent_source,
            parent_call_id=self.parent_call_id,
            at=self.at,
            keep_raw=keep_raw,
            separate=separate,
            is_growing=is_growing,
            side_file=side_file,
        )
