"""Where Qwen Code keeps its sessions: files by project, those of subagents beside the folder of the sessions.

An output that was too long for the model is in a folder of the project's below `tmp`.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.layout import Home, Layout, Parent, Sidecar, cwd_field, folder_of, is_name
from stenograph.formats.shared.loose import string


def agent_meta(meta: dict[str, Any]) -> Parent:
    """Who spawned a subagent and by which call, from its `.meta.json`."""
    call_id, parent = string(meta.get("toolUseId")), string(meta.get("parentAgentId"))
    if parent is not None:
        return f"subagent:{parent}", call_id
    return None if call_id is None else "main", call_id


def _stored_output(main: str, session_id: str, name: str) -> str | None:
    """The path of a stored output, below the folder that holds `projects`; the agent's own prefix is ignored."""
    if not all(is_name(each) for each in name.split("/")):
        return None
    home = folder_of(folder_of(folder_of(folder_of(main))))
    return f"{home}/{name}"


LAYOUT = Layout(
    homes=(
        Home(variable="QWEN_RUNTIME_DIR", default=".qwen", folder="projects"),
        Home(variable="QWEN_HOME", default=".qwen", folder="projects"),
    ),
    sessions=("{project}/chats/{session}.jsonl",),
    members=("../subagents/{session}/agent-{agent}.jsonl",),
    sidecar=Sidecar(suffix=".meta.json", parent=agent_meta),
    side_file=_stored_output,
    names_folder=cwd_field,
)
