"""The tools of Cline and Roo Code."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("execute_command", r"[Ee]xit code:? (-?\d+)")
    | tools(actions.READ, "read_file list_files list_code_definition_names")
    | tools(actions.WRITE, "write_to_file")
    | tools(actions.EDIT, "replace_in_file apply_diff insert_content search_and_replace")
    | tools(actions.SEARCH, "search_files codebase_search web_search")
    | tools(actions.FETCH, "web_fetch browser_action")
    | tools(actions.TODO, "update_todo_list")
    | tools(actions.QUESTION, "ask_followup_question")
    | tools(actions.PLAN, "plan_mode_respond")
    | tools(actions.SUBAGENT, "new_task")
    | tools(actions.OTHER, "attempt_completion use_mcp_tool access_mcp_resource load_mcp_documentation switch_mode")
    | tools(actions.OTHER, "fetch_instructions condense")
)
