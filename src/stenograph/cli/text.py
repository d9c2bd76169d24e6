"""`steno text`: a run as plain-text files, one per unit."""

from __future__ import annotations

import click

from stenograph.cli.options import json_option, print_json, write_text
from stenograph.cli.reading import Reading
from stenograph.query.passage import Passage
from stenograph.render.visible import visible
from stenograph.threads import DEFAULT_ROOT, ThreadTranscripts


@click.command(
    "text",
    epilog="Example: steno text 550e84 --root .leslie --mode review",
    short_help="Write a run as plain-text files, one per unit.",
)
@click.argument("target", metavar="RUN|PATH")
@click.option("--root", default=DEFAULT_ROOT, show_default=True, metavar="DIR", help="Where the threads are kept.")
@click.option("--thread", metavar="ID", help="The thread.  [default: the run id]")
@click.option("--chat", metavar="ID", help="The chat.  [default: the agent's session id]")
@click.option("--mode", default="agent", show_default=True, help="The agent's mode, for the header.")
@click.option(
    "--storage",
    default="storage",
    metavar="DIR",
    help="Where journals are kept.  [default: ./storage or $STENOGRAPH_STORAGE]",
)
@click.option("--redact", is_flag=True, help="Mask the secrets that we know the shapes of.")
@json_option
def command(
    target: str, root: str, thread: str | None, chat: str | None, mode: str, storage: str, redact: bool, as_json: bool
) -> None:
    """Write a run as plain-text files, one for each user message with everything up to the next one.

    They go to DIR/threads/ID/.meta/transcripts; the 50 newest of a thread are kept. Prints their paths.
    """
    reading = Reading(target, storage, Passage(), redact=redact, keep_raw=False)
    written = ThreadTranscripts(root, thread_id=thread, chat_id=chat, mode=mode).write(reading.events())
    if as_json:
        print_json({"files": [str(each) for each in written]})
    else:
        write_text("".join(f"{visible(str(each))}\n" for each in written))
    reading.tell_of_flaws()
