"""The agents of an archive by their names: an unknown one is a mistake, and not an empty list."""

from __future__ import annotations

import sqlite3

from stenograph.errors import InvalidAgent


def check_agent(index: sqlite3.Connection, name: str) -> None:
    """Raise `InvalidAgent` unless some agent or format of that name, or of that beginning, is known."""
    wanted = name.lower().replace("-", "_")
    known = {each for row in index.execute("SELECT DISTINCT agent, format FROM main.runs") for each in row}
    if any(each.startswith(wanted) for each in known):
        return
    from stenograph.formats.registry import formats  # all of them: not while a name is right

    agents = {spec.agent.id for spec in formats().values()}
    if not any(each.startswith(wanted) for each in {*agents, *formats()}):
        raise InvalidAgent(name, tuple(sorted(agents)))
