"""The agents of an archive by name: an unknown name is an error, not an empty list."""

from __future__ import annotations

import sqlite3

from stenograph.errors import InvalidAgent


def check_agent(index: sqlite3.Connection, name: str) -> None:
    """Raise `InvalidAgent` unless an agent or format with that name, or one that begins with it, is known."""
    wanted = name.lower().replace("-", "_")
    known = {each for row in index.execute("SELECT DISTINCT agent, format FROM main.runs") for each in row}
    if any(each.startswith(wanted) for each in known):
        return
    from stenograph.formats.registry import formats  # loads all formats, so only for a name that is not in the index

    agents = {spec.agent.id for spec in formats().values()}
    if not any(each.startswith(wanted) for each in {*agents, *formats()}):
        raise InvalidAgent(name, tuple(sorted(agents)))
