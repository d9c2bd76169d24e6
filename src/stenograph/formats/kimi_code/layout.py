"""Where Kimi Code keeps its sessions: a folder each, with a folder for each agent in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stenograph.formats.layout import Home, Layout, Links, cwd_field
from stenograph.formats.shared.loose import a_dict, first_str


def spawned_by(record: Any) -> Iterator[tuple[str, str]]:
    """The subagent that a record says was spawned, and by which call."""
    spawned = a_dict(record)
    agent, call_id = first_str(spawned, "subagentId"), first_str(spawned, "parentToolCallId")
    if agent and call_id:
        yield agent, call_id


LAYOUT = Layout(
    homes=(Home(variable="KIMI_CODE_HOME", default=".kimi-code", folder="sessions"),),
    sessions=("{workspace}/session_{session}/agents/main/wire.jsonl",),
    members=("../{agent}/wire.jsonl",),
    links=Links(mark=b'"subagent.spawned"', of=spawned_by, are_nested=True),
    names_folder=cwd_field,
)
