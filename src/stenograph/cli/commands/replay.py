"""`steno replay`: run an agent or a program again, with the recorded answers of its model."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from pathlib import Path

import click

from stenograph.atomic_file import write_atomically
from stenograph.cli.options import archive_option, json_document, root_option, say, write_bytes
from stenograph.errors import InvalidOption, InvalidTarget
from stenograph.render.control_chars import visible
from stenograph.replay.loading import load_recording
from stenograph.replay.program import run_program
from stenograph.replay.report import ReplayReport
from stenograph.replay.server import serving
from stenograph.replay.session import ReplaySession
from stenograph.replay.workspace import describe, paths_outside

_SHOWN = 200
_PAUSE = 0.5
_NO_SANDBOX = "this is not a sandbox: only the text of a command is checked, not what it does; a container is safer"


@click.command(
    "replay",
    epilog="Example: steno replay @ --yes -- claude -p 'Review stats.py.'",
)
@click.argument("target", metavar="RUN|PATH")
@click.argument("words", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--map", "pairs", multiple=True, metavar="OLD=NEW", help="Replace a recorded folder by another one.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Listen on this port.  [default: any free port]")
@click.option("--ignore", multiple=True, metavar="PATTERN", help="A regular expression for what may differ in results.")
@click.option("--report", "report_file", metavar="FILE", help="Write what happened as JSON; - is standard output.")
@click.option("--yes", is_flag=True, help="Do not ask before tool calls run again.")
@click.option("--allow-diff", is_flag=True, help="Let results differ without exit code 1.")
@click.option("--allow-outside", is_flag=True, help="Allow calls that name paths outside the workspace.")
@root_option
@archive_option
def command(
    target: str,
    words: tuple[str, ...],
    pairs: tuple[str, ...],
    port: int,
    ignore: tuple[str, ...],
    report_file: str | None,
    yes: bool,
    allow_diff: bool,
    allow_outside: bool,
    root: str | None,
    archive_dir: str | None,
) -> None:
    """Serve the recorded answers of a run's model on this machine, and run COMMAND against them.

    It serves Anthropic Messages, OpenAI Chat Completions and Responses, streamed or not; COMMAND finds the address
    in ANTHROPIC_BASE_URL and OPENAI_BASE_URL, and codex gets it as options. Without COMMAND it serves until
    interrupted. The recorded folder is replaced by the current one unless --map says otherwise.

    Recorded tool calls really run again. They are listed, and run only when you agree. Calls that name paths outside
    the current folder and the folders of --map are refused. This is not a sandbox; use a container.

    Exit code 1 when the run differs from the recorded one, else that of COMMAND.
    """
    recording = load_recording(target, root=root, archive=archive_dir)
    workspace = str(Path.cwd())
    folders = _folders(pairs)
    if recording.cwd is not None:
        folders = {recording.cwd: workspace} | folders
    session = ReplaySession(recording, folders, ignore)
    calls = session.live_calls()
    if not allow_outside:
        outside = paths_outside(calls, recording.adapter, workspace, folders.values())
        if outside:
            for each in outside[:_SHOWN]:
                say(f"outside the workspace: {each.path} ({each.call})")
            raise InvalidTarget(
                f"{len(outside)} paths are outside {workspace}; "
                "give --map OLD=NEW to move a folder, or --allow-outside to let calls use them"
            )
    for what in recording.unsupported:
        say(f"not replayed: {what}")
    if calls and not yes:
        _ask([describe(call, recording.adapter) for call in calls], workspace)
    with serving(session, port) as url:
        code = _run(url, words) if words else _wait(url)
    report = session.report()
    _write_report(report, report_file)
    if not report.is_equal(allow_diff=allow_diff):
        code = 1
    raise click.exceptions.Exit(code)


def _folders(pairs: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        old, mark, new = pair.partition("=")
        if not (mark and old.startswith("/") and new):
            raise InvalidOption(f"--map {pair!r} is not OLD=NEW; give two folders, the first of them absolute")
        found[old] = str(Path(new).expanduser().absolute())
    return found


def _ask(calls: list[str], workspace: str) -> None:
    say(f"these {len(calls)} recorded tool calls may run again in {workspace}:")
    for call in calls[:_SHOWN]:
        click.echo(f"  {call}", err=True)
    if len(calls) > _SHOWN:
        click.echo(f"  … and {len(calls) - _SHOWN} more", err=True)
    say(_NO_SANDBOX)
    if not _may_ask():
        raise click.UsageError("recorded tool calls would run again; add --yes to allow it")
    click.confirm("Run them again?", abort=True, err=True)


def _may_ask() -> bool:
    return sys.stdin.isatty()


def _run(url: str, words: tuple[str, ...]) -> int:
    try:
        return run_program(url, words)
    except OSError as error:
        say(f"{words[0]}: {error.strerror}; nothing was replayed")
        raise click.exceptions.Exit(127 if isinstance(error, FileNotFoundError) else 126) from error


def _wait(url: str) -> int:
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):  # entered before the line is printed, after which Ctrl-C may come
        say(f"serving on {url} (ANTHROPIC_BASE_URL={url} OPENAI_BASE_URL={url}/v1); press Ctrl-C to stop")
        while True:  # a wait without a time limit could miss a signal that comes just before it
            time.sleep(_PAUSE)
    signal.signal(signal.SIGTERM, before)
    return 0


def _write_report(report: ReplayReport, file: str | None) -> None:
    for line in report.lines():
        click.echo(visible(line), err=True)
    if file is None:
        return
    document = json_document(report.to_dict())
    if file == "-":
        write_bytes(document)
    else:
        write_atomically(Path(file), [document])
