"""A run in an agent's own file, with the files that belong to it, or in one session of its database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stenograph.errors import InvalidTarget
from stenograph.fold.status import NOT_KNOWN, Life
from stenograph.fold.subagents import subagent_tree
from stenograph.fold.tree import RunNode
from stenograph.formats.base import FormatSpec, run_id_of
from stenograph.liveness import Liveness
from stenograph.model.event import Event
from stenograph.runs.growth import DatabaseGrowth, DocumentGrowth, SessionGrowth
from stenograph.runs.info import RunInfo, Setting, info_of
from stenograph.runs.kind import Growth, Line, Verified
from stenograph.runs.problem import Problem, source_problems
from stenograph.runs.selection import Selection, selected
from stenograph.sources.conversion import Conversion, convert
from stenograph.sources.detection import Detection, read_head
from stenograph.sources.layouts import layout_of
from stenograph.sources.stored import address_of, find_session, identity_of, runs_of
from stenograph.sources.verify import AgentFileReport, verify_agent_file


class AgentFileRun:
    """One session; its path may be `FILE#SESSION`."""

    def __init__(self, path: Path, found: Detection) -> None:
        self._path = path
        self._found = found
        self._last: Conversion | None = None

    @property
    def spec(self) -> FormatSpec:
        """The format that the file is written in."""
        assert self._found.spec is not None
        return self._found.spec

    @property
    def name(self) -> str:
        """Names the format."""
        return f"an agent's file ({self.spec.name})"

    @property
    def place(self) -> str:
        """The path, with the session where the file holds many."""
        return str(self._path)

    @property
    def run_id(self) -> str:
        """From the file's beginning, or from the named session."""
        session = address_of(self._path)[1]
        if session is not None:
            return run_id_of(self.spec.name, find_session(self._found, session))
        return next(iter(runs_of(self._found).values()), "")

    def events(self, selection: Selection, *, keep_raw: bool) -> Iterator[Event]:
        """As `steno convert` makes them."""
        self._last = convert(self._path, keep_raw=keep_raw)
        return selected(self._last, selection)

    def lines(self) -> Iterator[Line]:
        """The events; their lines are ours, not the agent's."""
        return ((event, None) for event in self.events(Selection(), keep_raw=True))

    def info(self) -> RunInfo:
        """Computed from its events."""
        from stenograph.query.prices import load_prices

        return info_of(self.events(Selection(), keep_raw=False), load_prices(), self._setting())

    def _setting(self) -> Setting:
        """What the beginning of the file says, read as the archive does."""
        from stenograph.archive.keep.witness import agent_of

        identity = identity_of(self._found, address_of(self._path)[1])
        return Setting(
            run_id=self.run_id,
            agent=self._found.identity.agent or agent_of(self.spec.name),
            agent_version=identity.agent_version,
            cwd=identity.cwd,
            branch=identity.branch,
            model=identity.model,
            life=self.life,
        )

    def tree(self) -> RunNode:
        """Its subagents are its steps."""
        return subagent_tree(self.events(Selection(), keep_raw=False), self.life())

    def life(self) -> Life:
        """Whether a process still writes its files; a database is written for every session in it."""
        file = address_of(self._path)[0]
        if layout_of(self.spec.name).stored(file) is not None:
            return NOT_KNOWN
        return Liveness().of({str(file), *(each.path for each in (self._last.files if self._last else ()))})

    def problems(self) -> tuple[Problem, ...]:
        """Lines that could not be read or mapped, and files that are missing."""
        if self._last is None:
            for _ in self.events(Selection(), keep_raw=False):
                pass
        assert self._last is not None
        return source_problems(self._last.files)

    def growth(self, from_seq: int) -> Growth:
        """Follows its lines or the rows of a database, or reads a document again."""
        file, session = address_of(self._path)
        if layout_of(self.spec.name).stored(file) is not None:
            return DatabaseGrowth(file, self._found, session, from_seq)
        if self._found.is_document or not _has_lines(file):
            return DocumentGrowth(file, self.spec, from_seq)
        return SessionGrowth(file, self._found, from_seq)

    def verified(self) -> Verified:
        """As `verify_agent_file` does."""
        report = verify_agent_file(self._path)
        verdict = "ok" if report.ok else "PROBLEMS"
        return Verified(
            ok=report.ok,
            summary=f"{report.path}: {verdict}, {report.format}, {report.events} events from {report.lines} lines",
            findings=tuple(_findings(report)),
            report=report,
        )

    def for_bundle(self) -> Conversion:
        """The events with their source lines."""
        self._last = convert(self._path)
        return self._last

    def journal(self) -> Path:
        """Raises: it is not a journal."""
        raise InvalidTarget(f"{self._path} is {self.name}, not a journal; give a journal of ours")

    def close(self) -> None:
        """Nothing stays open."""
        self._last = None


def _has_lines(path: Path) -> bool:
    """Whether the file has a complete line; a document may never have one."""
    with path.open("rb") as file:
        return b"\n" in read_head(file)


def _findings(report: AgentFileReport) -> Iterator[str]:
    if report.malformed:
        yield f"✗ malformed: {report.malformed} lines are not JSON"
    if report.failed:
        yield f"✗ failed: {report.failed} lines could not be mapped; please report it"
    for name, number in report.unknown_types.items():
        yield f"· unknown_type: {number} records of type {name}"
    for call in report.open_calls:
        yield f"· open_call: a tool call has no result: {call}"
    for file in report.wanted_files:
        yield f"· side_file: {file} is not there"
