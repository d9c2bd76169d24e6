"""The tools of Qwen Code."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("run_shell_command exec", r"^Exit Code: (-?\d+)")
    | tools(actions.READ, "read_file read_many_files list_directory zoom_image read_mcp_resource")
    | tools(actions.WRITE, "write_file")
    | tools(actions.EDIT, "edit replace notebook_edit")
    | tools(actions.SEARCH, "glob grep_search search_file_content web_search tool_search lsp")
    | tools(actions.FETCH, "web_fetch")
    | tools(actions.TODO, "todo_write task_create task_update task_list")
    | tools(actions.QUESTION, "ask_user_question")
    | tools(actions.PLAN, "exit_plan_mode team_plan_approval")
    | tools(actions.SUBAGENT, "agent task list_agents send_message create_sub_session workflow")
    | tools(
        actions.OTHER,
        "save_memory skill enter_plan_mode image_gen cron_create cron_list cron_delete loop_wakeup task_stop "
        "team_create team_delete request_shutdown structured_output monitor tool_call enter_worktree exit_worktree "
        "artifact record_artifact record_source report_findings get_goal update_goal no_such_tool",
    )
)
