"""A run that a person names, to be read: from its journal, from the agent's own file, or from the archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from stenograph.cli.archive import damage_told
from stenograph.cli.convert import tell_of_flaws
from stenograph.cli.options import tell_of_journal_flaws
from stenograph.cli.target import Archived, find_run
from stenograph.journal.reader import JournalReader, read_events
from stenograph.model import Event
from stenograph.query.passage import Passage, Selection, read_passage
from stenograph.sources.conversion import Conversion, convert
from stenograph.transcript import TranscriptEntry
from stenograph.transcript.project import Projector

if TYPE_CHECKING:
    from stenograph.cli.redaction import Redaction

_OPTIONS = (
    click.option("--source", metavar="NAME", help="Only what main or one subagent said."),
    click.option(
        "--unit", type=click.IntRange(min=0), metavar="N", help="Only the Nth user message and what followed."
    ),
    click.option("--from", "first", type=click.IntRange(min=1), metavar="SEQ", help="Begin with this event."),
    click.option("--to", "last", type=click.IntRange(min=1), metavar="SEQ", help="End with this event."),
)


def passage_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--source`, `--unit`, `--from` and `--to`, given to the command as one `passage`."""

    @wraps(command)
    def with_passage(
        *, source: str | None, unit: int | None, first: int | None, last: int | None, **others: Any
    ) -> Any:
        return command(passage=Passage(source=source, unit=unit, first=first or 0, last=last), **others)

    decorated: Callable[..., Any] = with_passage
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


class Reading:
    """A run that can be read more than once: a page needs to know its end before its beginning."""

    def __init__(self, target: str, root: str, passage: Passage, *, redact: bool, keep_raw: bool) -> None:
        # The numbers that a search cites are the archive's; a journal of the same run may count otherwise.
        self._run = find_run(target, root, archive_first=passage.first > 0 or passage.last is not None)
        self._passage = passage
        self._keep_raw = keep_raw
        self._redaction: Redaction | None = None
        if redact:
            from stenograph.cli.redaction import Redaction  # many patterns, which take their time to load

            self._redaction = Redaction()
        self._last: JournalReader | Conversion | None = None

    def events(self) -> Iterable[Event]:
        """The events of the passage from the first on."""
        if isinstance(self._run, Archived):
            events: Iterable[Event] = _undamaged(read_passage(self._run.archive, self._run.run, self._passage))
        else:
            events = self._whole() if self._passage.is_all else self._selected()
        return events if self._redaction is None else self._redaction.events(events)

    def entries(self) -> Iterator[TranscriptEntry]:
        """The entries of the passage; they have the numbers that they have in the whole run."""
        selection, projector = Selection(self._passage), Projector()
        for event in self._whole():
            entries = projector.feed(event if self._redaction is None else self._redaction.event(event))
            if selection.has(event):
                yield from entries
        selection.check()

    def _whole(self) -> Iterable[Event]:
        if isinstance(self._run, Archived):
            return _undamaged(self._run.archive.events(self._run.run))
        path, format_name = self._run
        self._last = read_events(path) if format_name == "exchange" else convert(path, keep_raw=self._keep_raw)
        return self._last

    def _selected(self) -> Iterator[Event]:
        selection = Selection(self._passage)
        yield from filter(selection.has, self._whole())
        selection.check()

    def tell_of_flaws(self) -> None:
        """Say on standard error what of the run could not be read, as it was found the last time."""
        if isinstance(self._last, JournalReader):
            tell_of_journal_flaws(self._last, "shown as unknown events")
        elif self._last is not None:
            tell_of_flaws(self._last.files)


def _undamaged(events: Iterator[Event]) -> Iterator[Event]:
    with damage_told():
        yield from events
