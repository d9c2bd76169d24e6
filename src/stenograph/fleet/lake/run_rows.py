"""Rows of `runs` from events alone, if there is no host's index with the totals of a run."""

from __future__ import annotations

from typing import Any

import msgspec

from stenograph.archive.index.run_row import RunRow
from stenograph.archive.keep.witness import agent_of
from stenograph.archive.store.pack import About
from stenograph.fold.calls import CallPairs
from stenograph.model.event import Event
from stenograph.model.moment import milliseconds_of
from stenograph.model.payload import UsagePayload
from stenograph.sources.detection import Detection

_COLUMNS = """
    run_id parent_run_id forked_from agent format cwd project agent_version name first_prompt model started_at ended_at
    started_ms ended_ms events turns tools errors has_calls has_turns branch revision messages failed_calls open_calls
"""


class RunRows:
    """The runs of some events, counted as the index counts them. A call that a fork repeats counts in both."""

    def __init__(self) -> None:
        self._drafts: dict[str, RunRow] = {}
        self._pairs = CallPairs()

    def begin(self, found: Detection) -> None:
        """Take what the beginning of a session's main file says about its run."""
        assert found.spec is not None
        identity = found.identity
        about = About(
            root="",
            path=found.path,
            format=found.spec.name,
            run_id=found.run_id,
            at="",
            cwd=identity.cwd,
            branch=identity.branch,
            agent=identity.agent,
            agent_version=identity.agent_version,
            model=identity.model,
        )
        self._draft(found.run_id, found.spec.name).take_about(about)

    def add(self, event: Event, format: str) -> None:
        """Count an event; its file is in that format."""
        run = self._draft(event.run_id, format)
        joined = self._pairs.add(event, event.seq)
        if joined is not None:
            run.tools += joined.change.calls
            run.failed_calls += joined.change.failed
            run.open_calls += joined.change.open
            run.errors += joined.change.errors
        elif isinstance(event.payload, UsagePayload):
            run.has_calls |= event.payload.scope == "call"
            run.has_turns |= event.payload.scope == "turn"
        run.errors += event.type == "error"
        run.add(event, milliseconds_of(event.timestamp))

    def rows(self) -> list[dict[str, Any]]:
        """The rows, by column."""
        return [_row(run) for run in self._drafts.values() if run.events]

    def facts(self, run_id: str, format: str) -> RunRow:
        """A run as far as it is known."""
        return self._draft(run_id, format)

    def _draft(self, run_id: str, format: str) -> RunRow:
        run = self._drafts.get(run_id)
        if run is None:
            run = self._drafts[run_id] = RunRow(len(self._drafts) + 1, run_id, format, agent_of(format))
        return run


def _row(run: RunRow) -> dict[str, Any]:
    columns = {name: getattr(run, name) for name in _COLUMNS.split()}
    subagents = sum(source != "main" for source in run.sources)
    return {
        **columns,
        "has_calls": int(run.has_calls),
        "has_turns": int(run.has_turns),
        "evidence": msgspec.json.encode(run.proof).decode(),
        "copied_calls": 0,
        "subagents": subagents,
    }
