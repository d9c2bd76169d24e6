"""A run in a debug bundle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from stenograph.bundle.loaded import DebugBundle
from stenograph.errors import InvalidTarget
from stenograph.fold.status import NOT_KNOWN, Life
from stenograph.fold.subagents import subagent_tree
from stenograph.fold.tree import RunNode, StepNode, step_tree
from stenograph.journal.reader import JournalReader
from stenograph.model.event import Event
from stenograph.runs.info import RunInfo, Setting, info_of
from stenograph.runs.kind import Growth, Line, Verified
from stenograph.runs.problem import Problem, journal_problems
from stenograph.runs.selection import Selection, selected


class BundledRun:
    """The run that a bundle was made of. It cannot grow."""

    name = "a bundle"

    def __init__(self, path: Path) -> None:
        """Raises `SourceError` for a zip that is not a bundle, or that is unsafe."""
        self._bundle = DebugBundle.load(path)
        self._last: JournalReader | None = None

    @property
    def place(self) -> str:
        """The path."""
        return str(self._bundle.path)

    @property
    def run_id(self) -> str:
        """The manifest's."""
        return self._bundle.manifest.run_id

    def events(self, selection: Selection, *, keep_raw: bool) -> Iterator[Event]:
        """The events of the run itself, not of those that it called."""
        self._last = self._bundle.journal()
        return selected(self._last, selection)

    def lines(self) -> Iterator[Line]:
        """The lines that are events, byte for byte."""
        journal = self._last = self._bundle.journal()
        return ((event, journal.line) for event in journal if event.seq > 0)

    def info(self) -> RunInfo:
        """Computed from its events."""
        from stenograph.query.prices import load_prices

        setting = Setting(run_id=self.run_id)
        return info_of(self.events(Selection(), keep_raw=False), load_prices(), setting)

    def life(self) -> Life:
        """Not known: a bundle may have been copied anywhere, at any time."""
        return NOT_KNOWN

    def tree(self) -> RunNode:
        """The runs that it called are in the bundle, too."""
        return _grown(self._bundle, self._bundle.journal(), frozenset())

    def problems(self) -> tuple[Problem, ...]:
        """Defects of the journal that the bundle was made from."""
        if self._last is None:
            for _ in self.events(Selection(), keep_raw=False):
                pass
        assert self._last is not None
        return journal_problems(self._last, self.place)

    def growth(self, from_seq: int) -> Growth:
        """All events, and nothing after them."""
        return _Settled(line for line in self.lines() if line[0].seq >= from_seq)

    def verified(self) -> Verified:
        """Every byte, against the manifest."""
        report = self._bundle.verify()
        verdict = "ok" if report.ok else "PROBLEMS"
        return Verified(
            ok=report.ok,
            summary=f"{report.path}: {verdict}, a bundle, {report.files} files, {report.bytes:,} bytes",
            findings=tuple(
                f"✗ {each.kind}: {f'{each.file}: ' if each.file else ''}{each.what}" for each in report.findings
            ),
            report=report,
        )

    def for_bundle(self) -> Iterable[Event]:
        """Raises: it is a bundle already, with logs and an environment that another one could not have."""
        raise InvalidTarget(f"{self.place} is a bundle already; give the run that it was made of")

    def journal(self) -> Path:
        """Raises: it is not a journal."""
        raise InvalidTarget(f"{self.place} is a bundle, not a journal; steno bundle extract unpacks it")

    def close(self) -> None:
        """Nothing stays open."""
        self._last = None


def _grown(bundle: DebugBundle, events: Iterable[Event], above: frozenset[str]) -> RunNode:
    listed = list(events)
    has_steps = any(event.type.startswith(("run.", "step.")) for event in listed)
    node = step_tree(listed) if has_steps else subagent_tree(listed)
    above |= {node.run_id}
    return replace(node, steps=tuple(_with_child(bundle, step, above) for step in node.steps))


def _with_child(bundle: DebugBundle, step: StepNode, above: frozenset[str]) -> StepNode:
    steps = tuple(_with_child(bundle, each, above) for each in step.steps)
    child = step.child
    is_here = child is not None and child.run_id in bundle.manifest.child_run_ids
    if child is not None and is_here and child.run_id not in above:  # a run that calls itself would recurse for ever
        child = _grown(bundle, bundle.journal(child.run_id), above)
    return replace(step, steps=steps, child=child)


class _Settled:
    """A run that does not grow."""

    folders: frozenset[Path] = frozenset()
    is_over = True

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines

    def new(self) -> Iterator[Line]:
        """Everything, once."""
        return self._lines

    def close(self) -> None:
        """Nothing stays open."""
