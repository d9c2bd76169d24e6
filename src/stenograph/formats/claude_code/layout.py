"""Where Claude Code keeps its sessions, which subagent files belong to one, and which call spawned each.

2.1 keeps them in `<session>/subagents/**/agent-*.jsonl` with a `.meta.json` each, 2.0 beside the session with the
session's id inside their lines, 1.0 in the session file itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stenograph.formats.layout import Home, Layout, Links, Parent, Sidecar, cwd_field, folder_of, is_name, last_name
from stenograph.formats.shared.loose import string


def agent_meta(meta: dict[str, Any]) -> Parent:
    """Who spawned a subagent and by which call, from its `.meta.json` (2.1)."""
    call_id = string(meta.get("toolUseId"))
    parent = string(meta.get("parentAgentId"))
    if parent is not None:
        return f"subagent:{parent}", call_id
    depth = meta.get("spawnDepth")
    # 2.1.197 does not say who spawned an agent of an agent.
    is_nested = isinstance(depth, int) and depth > 1
    return None if call_id is None or is_nested else "main", call_id


def agent_links(record: Any) -> Iterator[tuple[str, str]]:
    """The subagent whose result a line holds, and the call that spawned it; 2.0 links them only there."""
    record = record if isinstance(record, dict) else {}
    result = record.get("toolUseResult")
    message = record.get("message")
    agent_id = string(result.get("agentId")) if isinstance(result, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if agent_id is None or not isinstance(content, list):
        return
    calls = [string(item.get("tool_use_id")) for item in content if isinstance(item, dict)]
    yield from [(agent_id, call) for call in calls if call is not None][:1]


def _stored_output(main: str, session_id: str, name: str) -> str | None:
    """The path of a stored output: beside the session, not at the agent's own path, as both may have been moved."""
    base = last_name(name)
    if not is_name(session_id) or not is_name(base):
        return None
    return f"{folder_of(main)}/{session_id}/tool-results/{base}"


LAYOUT = Layout(
    homes=(Home(variable="CLAUDE_CONFIG_DIR", default=".claude", folder="projects"),),
    sessions=("{project}/{session}.jsonl",),
    members=("{stem}/subagents/**/agent-{agent}.jsonl",),
    nearby=("agent-{agent}.jsonl",),
    always_members=(("Task", "Agent"), (2, 1)),
    sidecar=Sidecar(suffix=".meta.json", parent=agent_meta, unfinished=".tmp."),
    links=Links(mark=b'"agentId"', of=agent_links),
    side_file=_stored_output,
    names_folder=cwd_field,
)
