"""A run in one of our journals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stenograph.fold.status import Life
from stenograph.fold.tree import RunNode
from stenograph.journal.follow import Follower
from stenograph.journal.reader import JournalReader, read_events
from stenograph.journal.tree import tree_of
from stenograph.journal.verify import Finding, verify_journal
from stenograph.liveness import Liveness
from stenograph.model.event import Event
from stenograph.runs.info import RunInfo, Setting, info_of
from stenograph.runs.kind import Growth, Line, Verified
from stenograph.runs.problem import Problem, journal_problems
from stenograph.runs.selection import Selection, selected
from stenograph.sources.detection import detect_file, format_named


class JournalRun:
    """One journal. The file need not exist yet when it is only followed."""

    name = "a journal"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: JournalReader | None = None

    @property
    def place(self) -> str:
        """The path."""
        return str(self._path)

    @property
    def run_id(self) -> str:
        """From the first event that names it; for an empty journal, its name."""
        return next((event.run_id for event in read_events(self._path) if event.seq > 0), self._path.stem)

    def events(self, selection: Selection, *, keep_raw: bool) -> Iterator[Event]:
        """Every line is an event; a line of another kind is `unknown`."""
        self._last = read_events(self._path)
        return selected(self._last, selection)

    def lines(self) -> Iterator[Line]:
        """The lines that are events, byte for byte."""
        journal = self._last = read_events(self._path)
        return ((event, journal.line) for event in journal if event.seq > 0)

    def info(self) -> RunInfo:
        """Computed from its events."""
        from stenograph.query.prices import load_prices

        identity = detect_file(self._path, format_named("exchange")).identity
        setting = Setting(
            run_id=self._path.stem,
            agent_version=identity.agent_version,
            cwd=identity.cwd,
            branch=identity.branch,
            model=identity.model,
            life=self.life,
        )
        return info_of(self.events(Selection(), keep_raw=False), load_prices(), setting)

    def life(self) -> Life:
        """Determined by its lock, and by its last write."""
        return Liveness().of([self._path], is_journal=True)

    def tree(self) -> RunNode:
        """The runs that it called are searched for beside it."""
        return tree_of(self._path)

    def problems(self) -> tuple[Problem, ...]:
        """Lines that are not JSON, characters that are not UTF-8, a torn end."""
        if self._last is None:
            for _ in self.events(Selection(), keep_raw=False):
                pass
        assert self._last is not None
        return journal_problems(self._last, self.place)

    def growth(self, from_seq: int) -> Growth:
        """The journal's own follower."""
        return JournalGrowth(self._path, from_seq)

    def verified(self) -> Verified:
        """As `verify_journal` does."""
        report = verify_journal(self._path)
        live = ", being written now" if report.live else ""
        return Verified(
            ok=report.ok,
            summary=f"{report.path}: {_verdict(report.ok)}, {report.events} events in {report.lines} lines{live}",
            findings=tuple(map(_text, report.findings)),
            report=report,
        )

    def for_bundle(self) -> JournalReader:
        """The journal itself: its lines are copied byte for byte, and called runs are searched for beside it."""
        self._last = read_events(self._path)
        return self._last

    def journal(self) -> Path:
        """The file."""
        return self._path

    def close(self) -> None:
        """Nothing stays open."""
        self._last = None


def _verdict(ok: bool) -> str:
    return "ok" if ok else "PROBLEMS"


def _text(finding: Finding) -> str:
    where = f" line {finding.line}" if finding.line is not None else ""
    seq = f" seq {finding.seq}" if finding.seq is not None and finding.line is None else ""
    return f"{'✗' if finding.problem else '·'} {finding.kind}{where}{seq}: {finding.message}"


class JournalGrowth:
    """A journal while it is followed."""

    is_over = False

    def __init__(self, path: Path, from_seq: int) -> None:
        self._follower = Follower(path, from_seq)
        self.folders = frozenset([path.parent])

    def new(self) -> Iterator[Line]:
        """The lines that were added; none while the journal does not exist."""
        return self._follower.new()

    def close(self) -> None:
        """Close the file."""
        self._follower.release()
