"""`steno show`: the transcript of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import click
import msgspec

from stenograph.atomic_file import write_atomically
from stenograph.cli.completion import RUN
from stenograph.cli.options import (
    archive_option,
    json_option,
    redact_option,
    report_masked,
    report_problems,
    root_option,
    say,
    wants_color,
    write_bytes,
)
from stenograph.cli.part import Part, names_seq, not_empty, part_options
from stenograph.cli.reading import Wanted, is_read_by_a_person, page, reading, selected
from stenograph.cli.store import store_options
from stenograph.fold.status import Life
from stenograph.model import Event, encode
from stenograph.render.control_chars import visible
from stenograph.render.terminal import TerminalRenderer
from stenograph.runs.opening import reader_of
from stenograph.runs.reader import RunReader
from stenograph.runs.target import find_run
from stenograph.transcript import TranscriptEntry, entries, format_entry

if TYPE_CHECKING:
    from stenograph.fleet.lake.archive import StoreArchive

FORMS = ("terminal", "text", "markdown", "html", "json", "entries")
BATCH = 1 << 16


class _Asked(TypedDict):
    """The options of `steno show`."""

    form: str
    output: str | None
    redact: bool
    full: bool
    everything: bool
    wanted: Wanted
    part: Part


def _asked(
    form: str,
    output: str | None,
    redact: bool,
    full: bool,
    everything: bool,
    errors: bool,
    tools: bool,
    last: bool,
    part: Part,
    as_json: bool,
) -> _Asked:
    """The options as one value; raises `UsageError` for a combination that does not work."""
    form = "json" if as_json else form
    wanted = Wanted(errors=errors, tools=tools, last=last)
    if form != "terminal" and (any(wanted.values()) or everything):
        raise click.UsageError(
            f"--all, --errors, --tools and --last are for the terminal; --as {form} gives all events"
        )
    return _Asked(
        form=form,
        output=None if output == "-" else output,
        redact=redact,
        full=full,
        everything=everything,
        wanted=wanted,
        part=part,
    )


def _show(run: RunReader, asked: _Asked) -> None:
    form, output, wanted, full = asked["form"], asked["output"], asked["wanted"], asked["full"]
    shown = _Shown(run, asked["part"], wanted, keep_raw=form == "json")
    if form == "terminal" and output is None and is_read_by_a_person():
        page(reading(shown.events(), run.info, color=wants_color(), full=full, everything=asked["everything"]))
    elif output is None:
        for batch in _batches(_pieces(form, shown, full=full, color=wants_color())):
            write_bytes(batch)
    else:
        write_atomically(Path(output), _batches(_pieces(form, shown, full=full, color=False, to_file=True)))
    if shown.is_empty:
        say(f"{run.kind.place} has no events")
    elif any(wanted.values()) and not shown.is_any_selected:
        say(f"{run.kind.place} has no events that match")
    report_problems(run.problems())
    if asked["redact"]:
        report_masked(run.masked)


def _of_store(archive: StoreArchive, target: str, **options: Any) -> None:
    """Show a run of any machine from a store."""
    asked = _asked(**options)
    with archive.run(target, redact=asked["redact"]) as run:
        _show(run, asked)


@click.command(
    "show",
    epilog="Example: steno show 550e84 --as html --redact -o review.html",
)
@click.argument("target", type=RUN, metavar="RUN|PATH")
@click.option(
    "--as",
    "form",
    type=click.Choice(FORMS),
    default="terminal",
    help="terminal (default), text, markdown, html (one page), json (the events) or entries (the flat view, as JSON).",
)
@click.option("-o", "--output", metavar="FILE", help="Write to this file; - is standard output, the default.")
@redact_option
@click.option("--full", is_flag=True, help="Do not shorten long tool outputs.")
@click.option("--all", "everything", is_flag=True, help="On a terminal: also show machine events.")
@click.option("--errors", is_flag=True, help="Only errors, and the calls that failed.")
@click.option("--tools", is_flag=True, help="Only tool calls and their results.")
@click.option("--last", is_flag=True, help="Only the last prompt and what followed.")
@part_options
@store_options(_of_store)
@root_option
@archive_option
@json_option
def command(
    target: str,
    form: str,
    output: str | None,
    redact: bool,
    full: bool,
    everything: bool,
    errors: bool,
    tools: bool,
    last: bool,
    part: Part,
    root: str | None,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Print the transcript of a run, or a part of it: what was said and done, in order.

    On a terminal it has a header and times, leaves out machine events (--all shows them), and opens your pager (PAGER).
    Files and pipes get every event.

    A page (html) is a single self-contained file: mail it, or open it in a browser.
    """
    asked = _asked(form, output, redact, full, everything, errors, tools, last, part, as_json)
    with reader_of(find_run(target, root, archive_dir, archive_first=names_seq(part)), redact) as run:
        _show(run, asked)


class _Shown:
    """The part of a run to show. A page reads it more than once, because it begins with totals."""

    def __init__(self, run: RunReader, part: Part, wanted: Wanted, *, keep_raw: bool) -> None:
        self._run = run
        self._part = part
        self._wanted = wanted
        self._keep_raw = keep_raw
        self.is_empty = True
        self.is_any_selected = False

    @property
    def life(self) -> Life | None:
        """What is known about the run's process; None when only a part is shown."""
        return None if any(value is not None for value in self._part.values()) else self._run.kind.life()

    def events(self) -> Iterator[Event]:
        for event in selected(self._events(), self._wanted):
            self.is_any_selected = True
            yield event

    def _events(self) -> Iterator[Event]:
        for event in not_empty(self._run.events(**self._part, keep_raw=self._keep_raw), self._run, self._part):
            self.is_empty = False
            yield event

    def entries(self) -> Iterator[TranscriptEntry]:
        for entry in not_empty(self._run.entries(**self._part), self._run, self._part):
            self.is_empty = False
            yield entry


def _pieces(form: str, shown: _Shown, *, full: bool, color: bool, to_file: bool = False) -> Iterator[bytes]:
    """The transcript in one of the forms, in pieces."""
    read = shown.events
    match form:
        case "json":
            return _array(encode(event) for event in read())
        case "entries":
            return _array(msgspec.json.encode(entry.as_dict()) for entry in shown.entries())
        case "text":
            # A file gets the text as it is; for a terminal, control characters are made visible.
            texts = _formatted(read(), is_terminal=not to_file and sys.stdout.isatty())
        case "markdown":
            from stenograph.query.prices import load_prices
            from stenograph.render.markdown import markdown_page

            texts = markdown_page(read, full=full, life=shown.life, prices=load_prices())
        case "html":
            from stenograph.query.prices import load_prices
            from stenograph.render.html import html_page

            texts = html_page(read, full=full, life=shown.life, prices=load_prices())
        case _:
            renderer = TerminalRenderer(color=color, full=full)
            texts = (piece for event in read() for piece in renderer.pieces(event))
    return (part.encode("utf-8", "replace") for text in texts for part in _parts(text))


def _parts(text: str) -> Iterator[str]:
    """A text in parts: to encode a long one as a whole takes three times its size."""
    return (text[start : start + BATCH] for start in range(0, len(text), BATCH))


def _batches(pieces: Iterable[bytes]) -> Iterator[bytes]:
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size > BATCH:
            yield waiting[0] if len(waiting) == 1 else b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


def _array(items: Iterator[bytes]) -> Iterator[bytes]:
    """A JSON array."""
    opening = b"["
    for item in items:
        yield opening + b"\n" + item
        opening = b","
    yield b"[]\n" if opening == b"[" else b"\n]\n"


def _formatted(events: Iterable[Event], *, is_terminal: bool) -> Iterator[str]:
    before = ""
    for entry in entries(events):
        text = format_entry(entry)
        yield before + (visible(text) if is_terminal else text)
        before = "\n"
