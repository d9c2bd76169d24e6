"""Where kimi-cli keeps its sessions: a folder each, below one that is named by a digest of the working folder."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import md5
from typing import Any

from stenograph.formats.layout import Home, Layout, Links
from stenograph.formats.shared.loose import a_dict, first_str


def spawned_by(record: Any) -> Iterator[tuple[str, str]]:
    """The subagent that a record names, and the call that spawned it."""
    payload = a_dict(a_dict(a_dict(record).get("message")).get("payload"))
    agent, call_id = first_str(payload, "agent_id"), first_str(payload, "parent_tool_call_id", "task_tool_call_id")
    if agent and call_id:
        yield agent, call_id


def is_of_folder(path: str, folder: str) -> bool:
    """Whether the session in this file was begun in this folder."""
    name = md5(folder.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()
    return f"/{name}/" in path


LAYOUT = Layout(
    homes=(Home(variable="KIMI_SHARE_DIR", default=".kimi", folder="sessions"),),
    sessions=("{project}/{session}/wire.jsonl",),
    members=("subagents/{agent}/wire.jsonl",),
    unread=(
        "{project}/{session}/context*.jsonl",
        "{project}/{session}/state.json",
        "{project}/{session}/subagents/{agent}/context*.jsonl",
        "{project}/{session}/subagents/{agent}/meta.json",
    ),
    links=Links(mark=b'"SubagentEvent"', of=spawned_by),
    is_of_folder=is_of_folder,
)
