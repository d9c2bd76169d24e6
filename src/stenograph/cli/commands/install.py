"""`steno install`: change an agent's settings so that it calls `steno hook`, or can query `steno mcp`."""

from __future__ import annotations

from pathlib import Path

import click

from stenograph.archive.store.home import home_of
from stenograph.cli.installing.listing import AgentHere, agents_here
from stenograph.cli.installing.settings_file import Change, followed, path_of
from stenograph.cli.installing.ways import agents_that_call, install, ways_of
from stenograph.cli.options import archive_option, json_option, print_json, say, write_text
from stenograph.cli.table import print_fitted
from stenograph.formats.base import FormatSpec
from stenograph.formats.registry import formats
from stenograph.render.figures import when

_HEAD = ("agent", "found", "recorded", "since", "calls us by", "to record it")


def _agents() -> dict[str, FormatSpec]:
    """The agents whose settings we know, by their ids."""
    mcp = {spec.agent.id: spec for spec in formats().values() if spec.mcp is not None}
    return dict(sorted({**mcp, **agents_that_call()}.items()))


@click.command(
    "install",
    epilog="Example: steno install claude",
)
@click.argument("agent", required=False, type=click.Choice(list(_agents())))
@click.option("--mcp", is_flag=True, help="Register steno mcp, so that the agent can query its own history.")
@click.option(
    "--settings",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="The settings file to change.  [default: the agent's]",
)
@click.option("--remove", is_flag=True, help="Remove our hooks or, with --mcp, our server.")
@click.option("--list", "is_list", is_flag=True, help="List the agents found here, and whether each is recorded.")
@archive_option
@json_option
def command(
    agent: str | None,
    mcp: bool,
    settings: Path | None,
    remove: bool,
    is_list: bool,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Make an agent call us, so that each of its sessions is recorded from its first prompt, while it works.

    It adds hooks to the agent's settings, or a small plugin; --list says which, and which agents are installed here.
    With --mcp, it registers steno mcp instead: the agent can then query its own history.

    Everything else in the settings stays, and a backup of the file is kept beside it. Running it again changes nothing;
    after an update of the agent or of Stenograph it brings the hooks up to date. Settings that cannot be changed safely
    are left alone.
    """
    if is_list:
        if agent or mcp or settings or remove:
            raise click.UsageError("--list takes no agent and nothing to install.")
        _list(agents_here(home_of(archive_dir)), as_json)
        return
    if agent is None:
        raise click.UsageError("name the agent to install for; steno install --list shows those found here.")
    change = _mcp(agent, settings, remove=remove) if mcp else _hooks(agent, settings, remove=remove)
    if as_json:
        print_json(change)
        return
    for each in (change, *change.also):
        _print(each)


def _mcp(agent: str, settings: Path | None, *, remove: bool) -> Change:
    from stenograph.cli.installing.mcp import register

    spec = next((each for each in formats().values() if each.agent.id == agent and each.mcp is not None), None)
    if spec is None or spec.mcp is None:
        raise click.UsageError(f"no settings for MCP servers are known for {agent}; see steno mcp --help.")
    return register(spec.mcp, followed(settings or path_of(spec.mcp.settings)), remove=remove)


def _hooks(agent: str, settings: Path | None, *, remove: bool) -> Change:
    spec = agents_that_call().get(agent)
    if spec is None:
        raise click.UsageError(f"{agent} has no hooks; give --mcp, or record it with steno run.")
    if settings is not None and len(ways_of(spec)) > 1:
        raise click.UsageError(f"{agent} has several settings files; name its folder in the environment.")
    return install(spec, settings, remove=remove)


def _print(change: Change) -> None:
    gone = [name for name in change.removed if name not in change.added]
    for names, what in ((change.added, "call"), (gone, "no longer call")):
        if names:
            verb = what.replace("call", "calls") if len(names) == 1 else what
            write_text(f"{change.settings}: {', '.join(names)} {verb} {change.command}\n")
    if not change.added and not change.removed and change.note is None:
        write_text(f"{change.settings}: nothing to change\n")
    if change.backup is not None:
        write_text(f"backup: {change.backup}\n")
    if change.note is not None:
        say(change.note)


def _list(agents: list[AgentHere], as_json: bool) -> None:
    if as_json:
        print_json(agents)
        return
    if not agents:
        say("no agent was found on this machine; steno formats lists those that can be read")
        return
    print_fitted(_HEAD, [_cells(each) for each in agents], ("since", "found"), "to record it", 0)
    for each in agents:
        if each.problem is not None:
            say(f"{each.agent}: {each.problem}; run: steno install {each.agent}")


def _cells(each: AgentHere) -> tuple[object, ...]:
    recorded = {"install": "live", "watch": "live, by steno watch", None: "by steno sync"}[each.recorded_by]
    return (
        each.agent,
        "yes" if each.is_found else "no",
        recorded,
        when(each.since) if each.since else "",
        ", ".join(each.called_by) or "-",
        "" if each.recorded_by == "install" else each.advice,
    )
