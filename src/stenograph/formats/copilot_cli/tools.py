"""The tools of Copilot CLI."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("bash powershell local_shell", r"completed with exit code (-?\d+)>")
    | tools(actions.READ, "view show_file read_file")
    | tools(actions.WRITE, "create")
    | tools(actions.EDIT, "edit str_replace str_replace_editor apply_patch")
    | tools(actions.SEARCH, "grep glob rg web_search tool_search github-mcp-server-search_code")
    | tools(actions.FETCH, "web_fetch fetch")
    | tools(actions.TODO, "update_todo todo")
    | tools(actions.QUESTION, "ask_user")
    | tools(actions.PLAN, "exit_plan_mode")
    | tools(actions.SUBAGENT, "task read_agent list_agents write_agent")
    | tools(
        actions.OTHER,
        "read_bash write_bash stop_bash list_bash report_intent skill store_memory sql no_such_tool task_complete",
    )
)
