"""`steno run`: run a command, an agent or anything else, unchanged, and record it."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stenograph.adapters.commands.child_process import ChildProcess
from stenograph.adapters.commands.output import Output
from stenograph.cli.terminal import say
from stenograph.cli.text_root import NO_PROMPT, TextOptions, text_options
from stenograph.errors import StenographError

if TYPE_CHECKING:
    from stenograph.adapters.commands.command_recording import CommandRecording

_SHORT = 8
"""How many characters of a run id are usually enough to name it."""


@click.command(
    "run",
    epilog="Example: steno run -- claude -p 'Review stats.py.' --output-format stream-json --verbose",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("words", metavar="[--] COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--root",
    metavar="DIR",
    help="Where the journal is kept.  [default: $STENOGRAPH_STORAGE or the archive]",
)
@click.option(
    "--print-path",
    "path_fd",
    type=click.IntRange(min=3),
    metavar="FD",
    help="Write the path of each journal to this open file descriptor, one per line.",
)
@click.option("-q", "--quiet", is_flag=True, help="Do not print on a terminal which run was recorded.")
@text_options
@click.pass_context
def command(
    ctx: click.Context, words: tuple[str, ...], root: str | None, path_fd: int | None, quiet: bool, texts: TextOptions
) -> None:
    """Run a command with its input, output, errors, signals and exit code untouched, and record it.

    An agent is recorded from its own session files, or from its output if it keeps none; any other command with its
    output and exit code. The command does not notice. If standard error is a terminal, one line at the end names the
    run; otherwise nothing is printed unless the recording failed.
    """
    if not words[0]:  # no file can have an empty name
        say("the command is empty; name a program")
        ctx.exit(127)
    if path_fd is not None:
        _own(path_fd)
    texts.check()
    began = datetime.now(UTC)
    output = Output()
    try:
        child = ChildProcess(words, output.add)
    except OSError as error:
        output.forget()
        say(f"{words[0]}: {error.strerror}")
        ctx.exit(127 if isinstance(error, FileNotFoundError) else 126)
    problems: list[str] = []
    try:
        recording = _begun(words, root, output, child.is_copied, began, path_fd, texts, problems)
        code = child.wait()
        if recording is not None:
            recording.finish(code)
            problems += recording.problems
            if recording.has_no_texts:
                problems.append(NO_PROMPT)
        for problem in filter(None, [child.problem, *problems]):
            say(problem)
        if recording is not None:
            _finish(recording.journals, quiet)
    finally:
        child.close()
    ctx.exit(code)


def _finish(journals: list[Path], quiet: bool) -> None:
    """Have the recorded runs indexed, and print their names on a terminal."""
    from stenograph.runs.own_journals import index_later

    try:
        index_later(journals)
    except (OSError, StenographError) as error:
        say(f"what was recorded is not indexed yet: {error}; run: steno sync")
    if journals and not quiet and sys.stderr.isatty():
        names = [journal.stem[:_SHORT] for journal in journals]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        say(f"recorded as {names[0]}{more}; steno show {names[0]} prints it")


def _own(fd: int) -> None:
    """Keep a descriptor that is meant for us from being inherited by the command."""
    try:
        os.set_inheritable(fd, False)
    except OSError as error:
        raise click.UsageError(f"--print-path: {fd} is not an open descriptor; open it, as in {fd}>path.txt") from error


def _begun(
    words: tuple[str, ...],
    root: str | None,
    output: Output,
    is_copied: bool,
    began: datetime,
    path_fd: int | None,
    texts: TextOptions,
    problems: list[str],
) -> CommandRecording | None:
    """Start recording the command, which already runs: loading our modules must not delay it."""

    def known(path: Path) -> None:
        if path_fd is not None:
            os.write(path_fd, os.fsencode(path) + b"\n")

    try:
        from stenograph.adapters.commands.command_recording import CommandRecording
        from stenograph.journal.place import recording_root

        recording = CommandRecording(
            words,
            recording_root(root),
            output,
            is_copied=is_copied,
            began=began,
            known=known,
            text_transcripts=texts.transcripts(),
        )
        recording.start()
    except Exception as error:  # noqa: BLE001  # our failure must not be the command's
        problems.append(f"the command is not recorded: {error}")
        return None
    return recording
