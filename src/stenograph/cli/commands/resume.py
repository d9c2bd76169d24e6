"""`steno resume`: continue a run."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from stenograph.cli.completion import AGENT, RUN
from stenograph.cli.options import archive_option, json_option, print_json, root_option, say, write_text
from stenograph.render.control_chars import visible
from stenograph.runs.opening import open_run
from stenograph.runs.resuming import Resumption, handover, resumption


@click.command("resume", epilog="Example: steno resume @ --exec")
@click.argument("target", type=RUN, metavar="RUN|PATH")
@click.option("--in", "agent", type=AGENT, metavar="AGENT", help="Continue in another agent: claude, codex, gemini, …")
@click.option("--exec", "is_run", is_flag=True, help="Run the command in the run's folder instead of printing it.")
@click.option("--briefing", "only_briefing", is_flag=True, help="With --in: print the briefing for the other agent.")
@root_option
@archive_option
@json_option
def command(
    target: str,
    agent: str | None,
    is_run: bool,
    only_briefing: bool,
    root: str | None,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Print the agent's own command that continues a run, with the folder to run it in.

    With --in, another agent starts with a briefing of facts: what was asked, changed and failed, how it ended and the
    last answer. Secrets in it are masked.
    """
    if only_briefing and agent is None:
        raise click.UsageError("--briefing needs --in AGENT")
    with open_run(target, root=root, archive=archive_dir, redact=agent is not None) as run:
        found = resumption(run) if agent is None else handover(run, agent)
    if as_json:
        print_json(found)
    elif only_briefing:
        write_text(f"{visible(found.briefing or '')}\n")
    elif is_run:
        _run(found)
    else:
        write_text(f"{visible(_line(found, target))}\n")
        if found.cwd is not None and not Path(found.cwd).is_dir():
            say(f"the folder {found.cwd} does not exist any more")


def _line(found: Resumption, target: str) -> str:
    """The command for a shell; it makes the briefing when it runs, so that the line stays short."""
    begin = f"cd {shlex.quote(found.cwd)} && " if found.cwd else ""
    if found.briefing is None:
        return begin + shlex.join(found.command)
    name = str(Path(target).absolute()) if Path(target).exists() else found.run_id
    ask = f'"$(steno resume {shlex.quote(name)} --in {found.agent} --briefing)"'
    return begin + " ".join(ask if found.briefing in word else shlex.quote(word) for word in found.command)


def _run(found: Resumption) -> None:
    try:
        if found.cwd is not None:
            os.chdir(found.cwd)
        os.execvp(found.command[0], found.command)
    except FileNotFoundError as error:
        missing = found.cwd if error.filename == found.cwd else found.command[0]
        say(f"{missing} does not exist; print the command without --exec, and change it")
        raise click.exceptions.Exit(127) from None
    except OSError as error:
        say(f"{found.command[0]} cannot be run: {error.strerror}")
        raise click.exceptions.Exit(126) from None
