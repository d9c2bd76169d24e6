"""The description of this format."""

from stenograph.fold import actions
from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.shared.tools import editors, shells, tools

SPEC = FormatSpec(
    name="openhands_v0",
    what="trajectories of OpenHands before its rewrite (V0)",
    versions="files of 2025-01 (OpenHands 0.20)",
    agent=Agent("openhands", "OpenHands"),
    kind="document",
    documents=True,
    detect=later("stenograph.formats.openhands_v0.detection", "detect"),
    identify=later("stenograph.formats.openhands_v0.detection", "identify"),
    open=later("stenograph.formats.openhands_v0.format", "OpenHandsV0Format"),
    tools=shells("execute_bash run", r"exit code (-?\d+)")
    | tools(actions.READ, "read")
    | tools(actions.WRITE, "write")
    | editors("str_replace_editor")
    | tools(actions.EDIT, "edit edit_file")
    | tools(actions.FETCH, "browse browse_interactive browser fetch web_read")
    | tools(actions.SUBAGENT, "delegate")
    | tools(actions.TODO, "task_tracker")
    | tools(actions.OTHER, "finish think run_ipython execute_ipython_cell reject call_tool_mcp"),
    tokens=("call", "total"),
)
