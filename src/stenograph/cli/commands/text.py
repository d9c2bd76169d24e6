"""`steno text`: a run as plain-text files, one per unit."""

from __future__ import annotations

import click

from stenograph.cli.completion import RUN
from stenograph.cli.options import (
    archive_option,
    json_option,
    print_json,
    redact_option,
    report_masked,
    report_problems,
    say,
    write_text,
)
from stenograph.render.control_chars import visible
from stenograph.runs.opening import open_run
from stenograph.text_transcripts import DEFAULT_ROOT, ThreadTranscripts


@click.command(
    "text",
    epilog="Example: steno text 550e84 --root .leslie --mode review",
)
@click.argument("target", type=RUN, metavar="RUN|PATH")
@click.option("--root", default=DEFAULT_ROOT, show_default=True, metavar="DIR", help="Where to write the threads.")
@click.option("--thread", metavar="ID", help="The thread.  [default: the run id]")
@click.option("--chat", metavar="ID", help="The chat.  [default: the agent's session id]")
@click.option("--mode", default="agent", show_default=True, help="The agent's mode in the header.")
@click.option("--storage", metavar="DIR", help="Where journals are kept.  [default: ./storage or $STENOGRAPH_STORAGE]")
@archive_option
@redact_option
@json_option
def command(
    target: str,
    root: str,
    thread: str | None,
    chat: str | None,
    mode: str,
    storage: str | None,
    archive_dir: str | None,
    redact: bool,
    as_json: bool,
) -> None:
    """Write a run as plain-text files, one for each user message with everything up to the next one.

    They are written to DIR/threads/ID/.meta/transcripts; the 50 newest of a thread are kept. Prints their paths.
    """
    with open_run(target, root=storage, archive=archive_dir, redact=redact) as run:
        transcripts = ThreadTranscripts(root, thread_id=thread, chat_id=chat, mode=mode)
        written = transcripts.write(run.events(keep_raw=False))
        if as_json:
            print_json({"files": [str(each) for each in written]})
        else:
            write_text("".join(f"{visible(str(each))}\n" for each in written))
        if not written:
            say(f"{run.kind.place} has no user message; nothing was written")
        report_problems(run.problems())
        if redact:
            report_masked(run.masked)
