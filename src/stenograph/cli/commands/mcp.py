"""`steno mcp`: agents query their own history."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from stenograph.cli.options import archive_option
from stenograph.mcp.history import History
from stenograph.mcp.server import serve


@click.command(
    "mcp",
    epilog="Example: steno mcp --project ~/src/app",
)
@click.option("--project", metavar="DIR", help="The project to serve.  [default: the current folder]")
@click.option("--all", "all_projects", is_flag=True, help="Serve all projects of this machine.")
@archive_option
def command(project: str | None, all_projects: bool, archive_dir: str | None) -> None:
    """Serve the archive to an agent by the Model Context Protocol, on standard input and output.

    The tools are search_history, list_runs, read_run, run_stats and find_file. They only read. Answers are about the
    current project unless the agent asks for others, never about a session that is being written, and secrets are
    masked. Agents start this command themselves: steno install claude --mcp registers it.
    """
    if project is not None and all_projects:
        raise click.UsageError("--project and --all exclude each other; give one of them.")
    folder = None if all_projects else str(Path(project or ".").expanduser().absolute())
    history = History(archive_dir, folder)
    # Standard output belongs to the protocol: anything else that is printed goes to standard error.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        try:
            serve(sys.stdin.buffer, output, history.call)
        finally:
            history.close()
