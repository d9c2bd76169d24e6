"""The agents of this machine, and whether each is recorded."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from msgspec import Struct

from stenograph.archive.store.home import Home as Archive
from stenograph.cli.installing.ways import since, ways_of
from stenograph.formats.base import FormatSpec
from stenograph.query.doctor.places import holder_of
from stenograph.sources.layouts import layout_of, placed_formats


class AgentHere(Struct, frozen=True, kw_only=True):
    """One agent that we can read."""

    agent: str
    name: str
    is_found: bool
    """Whether its program is on the PATH, or it left a folder of sessions."""
    program: str | None = None
    """Its program on the PATH."""
    folders: tuple[str, ...] = ()
    """Where it keeps its sessions, as far as the folders exist."""
    can_call: tuple[str, ...] = ()
    """How it can be made to call us: `hooks`, `notify`, `plugin`; empty if it cannot."""
    called_by: tuple[str, ...] = ()
    """How it calls us now."""
    recorded_by: str | None = None
    """What records it: `install` or `watch`; None if only a `steno sync` does."""
    since: str | None = None
    """Since when it calls us, if known."""
    problem: str | None = None
    """Why it cannot call us, though it should."""
    advice: str = ""
    """The command that would record it."""


def agents_here(archive: Archive) -> list[AgentHere]:
    """The agents found here or calling us: by their programs, their folders, and our part of their settings."""
    is_watched = holder_of(archive.watch_lock) is not None
    by_agent: dict[str, list[FormatSpec]] = {}
    for spec in placed_formats():
        if not _is_ours(spec, archive):
            by_agent.setdefault(spec.agent.id, []).append(spec)
    known = [_agent_here(specs, is_watched) for _, specs in sorted(by_agent.items())]
    return [each for each in known if each.is_found or each.called_by or each.problem]


def _is_ours(spec: FormatSpec, archive: Archive) -> bool:
    """Whether files of this format are written by ourselves, into the archive."""
    roots = layout_of(spec.name).roots({**os.environ, "STENOGRAPH_HOME": str(archive.path)}, Path.home())
    return any(root.is_relative_to(archive.path) for root in roots)


def _agent_here(specs: list[FormatSpec], is_watched: bool) -> AgentHere:
    program = next((path for spec in specs for name in spec.programs if (path := shutil.which(name))), None)
    roots = [root for spec in specs for root in layout_of(spec.name).roots(os.environ, Path.home())]
    folders = tuple(str(root) for root in dict.fromkeys(roots) if root.is_dir())
    ways = [(way, way.state(spec)) for spec in specs for way in ways_of(spec)]
    calls = tuple(way.name for way, state in ways if state.installed and state.problem is None)
    agent = specs[0].agent
    problems = [state.problem for _, state in ways if state.installed and state.problem is not None]
    return AgentHere(
        agent=agent.id,
        name=agent.name,
        is_found=program is not None or bool(folders),
        program=program,
        folders=folders,
        can_call=tuple(way.name for way, _ in ways),
        called_by=calls,
        recorded_by="install" if calls else "watch" if is_watched else None,
        since=min(filter(None, (since(state) for _, state in ways)), default=None),
        problem=problems[0] if problems else None,
        advice=f"steno install {agent.id}" if ways else f"steno watch --agent {agent.id}",
    )
