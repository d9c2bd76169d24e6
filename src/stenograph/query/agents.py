"""The agents of an archive by their names: one that nobody has is a mistake, and not an empty list."""

from __future__ import annotations

import sqlite3
from difflib import get_close_matches

from stenograph.errors import InvalidQuery


def check_agent(index: sqlite3.Connection, name: str) -> None:
    """Raise `InvalidQuery`, with the nearest names, unless some agent or format of that name or beginning is known."""
    wanted = name.lower().replace("-", "_")
    known = {each for row in index.execute("SELECT DISTINCT agent, format FROM main.runs") for each in row}
    if any(each.startswith(wanted) for each in known):
        return
    from stenograph.archive.keep.walk import agent_names  # which loads every layout: not while a name is right
    from stenograph.formats.registry import formats

    known |= {*agent_names(), *formats()}
    if any(each.startswith(wanted) for each in known):
        return
    agents = sorted(agent_names())
    nearest = get_close_matches(wanted, sorted(known), n=1)
    hint = f"did you mean {nearest[0]}? " if nearest else ""
    raise InvalidQuery(f"unknown agent {name!r}; {hint}known agents: {', '.join(agents)}")
