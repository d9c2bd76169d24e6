"""`steno show`: the transcript of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import click
import msgspec

from stenograph.cli.convert import tell_of_flaws
from stenograph.cli.options import (
    json_option,
    root_option,
    tell_of_journal_flaws,
    wants_color,
    write_bytes,
    write_text,
)
from stenograph.cli.target import find_target
from stenograph.journal.reader import JournalReader, read_events
from stenograph.model import Event, encode
from stenograph.render.terminal import TerminalRenderer, visible
from stenograph.sources.conversion import convert
from stenograph.transcript import entries, format_entry

FORMS = ("terminal", "text", "json", "entries")


@click.command(
    "show",
    epilog="Example: steno show 550e84 --as text | less",
    short_help="Print the transcript of a run.",
)
@click.argument("target", metavar="RUN|PATH")
@click.option(
    "--as",
    "form",
    type=click.Choice(FORMS),
    default="terminal",
    help="terminal (default), text, json (the events) or entries (the flat view, as JSON).",
)
@click.option("--full", is_flag=True, help="Show long tool outputs whole.")
@root_option
@json_option
def command(target: str, form: str, full: bool, root: str, as_json: bool) -> None:
    """Print the transcript of a run: what was said and done, in order."""
    path, format_name = find_target(target, root)
    events = read_events(path) if format_name == "exchange" else convert(path)
    if as_json or form == "json":
        _print_array(encode(event) for event in events)
    elif form == "entries":
        _print_array(msgspec.json.encode(entry.as_dict()) for entry in entries(events))
    elif form == "text":
        _print_text(events)
    else:
        renderer = TerminalRenderer(color=wants_color(), full=full)
        for event in events:
            write_text(renderer.render(event))
    if isinstance(events, JournalReader):
        tell_of_journal_flaws(events, "shown as unknown events")
    else:
        tell_of_flaws(events.files)


def _print_array(items: Iterator[bytes]) -> None:
    """A JSON array, written as it comes."""
    opening = b"["
    for item in items:
        write_bytes(opening + b"\n" + item)
        opening = b","
    write_bytes(b"[]\n" if opening == b"[" else b"\n]\n")


def _print_text(events: Iterable[Event]) -> None:
    is_terminal = sys.stdout.isatty()  # a file gets the text as it is, a terminal nothing that it would obey
    before = ""
    for entry in entries(events):
        text = format_entry(entry)
        write_text(before + (visible(text) if is_terminal else text))
        before = "\n"
