"""`steno tree`: steps, iterations and sub-workflows of a run."""

from __future__ import annotations

import click

from stenograph.cli.archive import damage_told
from stenograph.cli.options import json_option, print_json, root_option, write_text
from stenograph.cli.target import Archived, find_run
from stenograph.fold.subagents import subagent_tree
from stenograph.fold.tree import RunNode
from stenograph.journal.tree import missing_runs, tree_of
from stenograph.liveness import Liveness
from stenograph.render.tree import tree_lines
from stenograph.sources.conversion import convert


@click.command("tree", epilog="Example: steno tree 550e84", short_help="Print the steps and sub-workflows of a run.")
@click.argument("target", metavar="RUN|PATH")
@root_option
@json_option
def command(target: str, root: str, as_json: bool) -> None:
    """Print the steps of a run as a tree, with iterations and the runs it called, to any depth.

    Called runs are looked for beside the journal; those that are not there are named. Of an agent's own file: its
    subagents. Of a run of the archive also the threads it spawned and the forks that continue it.
    """
    tree = _tree(target, root)
    if as_json:
        print_json(tree)
    else:
        for line in tree_lines(tree):
            write_text(line + "\n")
    for run_id in missing_runs(tree):
        click.echo(f"steno: the journal of the called run {run_id} is not here", err=True)


def _tree(target: str, root: str) -> RunNode:
    found = find_run(target, root)
    if isinstance(found, Archived):
        from stenograph.query.tree import archived_tree

        with damage_told():
            return archived_tree(found.archive, found.run)
    path, format_name = found
    if format_name == "exchange":
        return tree_of(path)
    return subagent_tree(convert(path, keep_raw=False), Liveness().of([path]))
