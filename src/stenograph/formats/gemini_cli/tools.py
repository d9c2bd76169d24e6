"""The tools of Gemini CLI."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("run_shell_command", r"^Exit Code: (-?\d+)")
    | tools(actions.READ, "read_file read_many_files list_directory read_mcp_resource")
    | tools(actions.WRITE, "write_file")
    | tools(actions.EDIT, "replace edit")
    | tools(actions.SEARCH, "glob search_file_content grep_search google_web_search list_mcp_resources")
    | tools(actions.FETCH, "web_fetch")
    | tools(actions.TODO, "write_todos update_topic")
    | tools(actions.QUESTION, "ask_user")
    | tools(actions.PLAN, "exit_plan_mode")
    | tools(actions.SUBAGENT, "invoke_agent codebase_investigator generalist cli_help delegate_to_agent")
    | tools(
        actions.OTHER,
        "complete_task save_memory activate_skill enter_plan_mode get_internal_docs no_such_tool read_background_output"
        " list_background_processes",
    )
)
