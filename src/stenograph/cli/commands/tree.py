"""`steno tree`: steps, iterations and sub-workflows of a run."""

from __future__ import annotations

import click

from stenograph.cli.completion import RUN
from stenograph.cli.options import archive_option, json_option, print_json, root_option, say, write_text
from stenograph.journal.tree import missing_runs
from stenograph.render.tree import tree_lines
from stenograph.runs.opening import open_run


@click.command("tree", epilog="Example: steno tree 550e84")
@click.argument("target", type=RUN, metavar="RUN|PATH")
@root_option
@archive_option
@json_option
def command(target: str, root: str | None, archive_dir: str | None, as_json: bool) -> None:
    """Print the steps of a run as a tree, with iterations and the runs it called, to any depth.

    Called runs are looked for beside the journal; missing ones are named. For an agent's own file, its subagents are
    printed; for a run of the archive also the threads it spawned and the forks that continue it.
    """
    with open_run(target, root=root, archive=archive_dir) as run:
        tree = run.tree()
    if as_json:
        print_json(tree)
    else:
        for line in tree_lines(tree):
            write_text(line + "\n")
    for run_id in missing_runs(tree):
        say(f"the journal of the called run {run_id} is not here")
