"""The tools of each family of agents, by the names under which they are called: `FormatSpec.tools`.

`OTHER` names tools that are `other` on purpose: each was seen, and is none of the other kinds.
"""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.fold.agent_tables import Tool

Tools = dict[str, Tool]


def _tools(kind: str, names: str) -> Tools:
    tool = Tool(kind=kind)
    return dict.fromkeys(names.split(), tool)


def _shells(names: str, exit_code: str) -> Tools:
    return {name: Tool(kind=actions.SHELL, exit_code=exit_code) for name in names.split()}


CLAUDE: Tools = (
    _shells("Bash PowerShell", r"\A(?:Error: )?Exit code (-?\d+)")
    | _tools(actions.READ, "Read NotebookRead LS ReadMcpResource ReadMcpResourceTool")
    | _tools(actions.WRITE, "Write")
    | _tools(actions.EDIT, "Edit MultiEdit NotebookEdit str_replace_editor str_replace_based_edit_tool")
    | _tools(actions.SEARCH, "Glob Grep WebSearch ToolSearch LSP ListMcpResources ListMcpResourcesTool")
    | _tools(actions.FETCH, "WebFetch")
    | _tools(actions.TODO, "TodoWrite TodoRead TaskCreate TaskUpdate TaskList TaskGet")
    | _tools(actions.QUESTION, "AskUserQuestion")
    | _tools(actions.PLAN, "ExitPlanMode exit_plan_mode")
    | _tools(actions.SUBAGENT, "Task Agent SendMessage TeamCreate TeamDelete")
    | _tools(
        actions.OTHER,
        "BashOutput KillBash KillShell TaskOutput TaskStop AgentOutputTool Skill SlashCommand EnterPlanMode"
        " EnterWorktree ExitWorktree StructuredOutput NoSuchTool CronCreate CronDelete CronList Config Sleep",
    )
)
CODEX: Tools = (
    _shells(
        "shell shell_command exec_command local_shell local_shell_call container.exec unified_exec user_shell_command"
        " exec commandExecution command_execution",
        r"\A(?:Error: )?[Ee]xit code:? (-?\d+)|^(?:Process exited with code|Exit code:) (-?\d+)",
    )
    | _tools(actions.READ, "view_image imageView read_file list_dir read_mcp_resource")
    | _tools(actions.EDIT, "apply_patch fileChange file_change")
    | _tools(
        actions.SEARCH,
        "web_search web_search_call webSearch tool_search grep_files list_mcp_resources list_mcp_resource_templates",
    )
    | _tools(actions.TODO, "update_plan")
    | _tools(actions.QUESTION, "request_user_input")
    | _tools(
        actions.SUBAGENT,
        "spawn_agent wait_agent wait send_input close_agent list_agents followup_task send_message interrupt_agent"
        " resume_agent spawnAgent sendInput closeAgent resumeAgent",
    )
    | _tools(actions.OTHER, "write_stdin image_generation no_such_tool lookup_ticket plain_tool request_permissions")
)
COPILOT: Tools = (
    _shells("bash powershell local_shell", r"completed with exit code (-?\d+)>")
    | _tools(actions.READ, "view show_file read_file")
    | _tools(actions.WRITE, "create")
    | _tools(actions.EDIT, "edit str_replace str_replace_editor apply_patch")
    | _tools(actions.SEARCH, "grep glob rg web_search tool_search github-mcp-server-search_code")
    | _tools(actions.FETCH, "web_fetch fetch")
    | _tools(actions.TODO, "update_todo todo")
    | _tools(actions.QUESTION, "ask_user")
    | _tools(actions.PLAN, "exit_plan_mode")
    | _tools(actions.SUBAGENT, "task read_agent list_agents write_agent")
    | _tools(
        actions.OTHER,
        "read_bash write_bash stop_bash list_bash report_intent skill store_memory sql no_such_tool task_complete",
    )
)
GEMINI: Tools = (
    _shells("run_shell_command", r"^Exit Code: (-?\d+)")
    | _tools(actions.READ, "read_file read_many_files list_directory read_mcp_resource")
    | _tools(actions.WRITE, "write_file")
    | _tools(actions.EDIT, "replace edit")
    | _tools(actions.SEARCH, "glob search_file_content grep_search google_web_search list_mcp_resources")
    | _tools(actions.FETCH, "web_fetch")
    | _tools(actions.TODO, "write_todos update_topic")
    | _tools(actions.QUESTION, "ask_user")
    | _tools(actions.PLAN, "exit_plan_mode")
    | _tools(actions.SUBAGENT, "invoke_agent codebase_investigator generalist cli_help delegate_to_agent")
    | _tools(
        actions.OTHER,
        "complete_task save_memory activate_skill enter_plan_mode get_internal_docs no_such_tool read_background_output"
        " list_background_processes",
    )
)
OPENCODE: Tools = (
    _shells("bash shell", r"\A[Ee]xit code:? (-?\d+)")
    | _tools(actions.READ, "read list ls")
    | _tools(actions.WRITE, "write")
    | _tools(actions.EDIT, "edit multiedit patch apply_patch")
    | _tools(actions.SEARCH, "grep glob websearch codesearch lsp")
    | _tools(actions.FETCH, "webfetch")
    | _tools(actions.TODO, "todowrite todoread")
    | _tools(actions.QUESTION, "question")
    | _tools(actions.PLAN, "plan_exit")
    | _tools(actions.SUBAGENT, "task")
    | _tools(actions.OTHER, "invalid skill batch plan_enter no_such_tool")
)
ACP: Tools = (
    {
        "execute": Tool(
            kind=actions.SHELL, command=("command", "cmd", "title"), exit_code=r"completed with exit code (-?\d+)>"
        )
    }
    | _tools(actions.READ, "read")
    | _tools(actions.EDIT, "edit delete move")
    | _tools(actions.SEARCH, "search")
    | _tools(actions.FETCH, "fetch")
    | _tools(actions.OTHER, "think other switch_mode no_such_tool")
)
"""Of the Agent Client Protocol: its own kinds, which stand in for names that a client is not told."""
GENERIC: Tools = (
    _shells(
        "command shell bash execute_bash run_command run_terminal_cmd execute_command run_shell terminal",
        r"\A[Ee]xit code:? (-?\d+)",
    )
    | _tools(actions.READ, "read_file view_file open_file list_files list_dir list_directory cat ls")
    | _tools(actions.WRITE, "write_file create_file write_to_file save_file")
    | _tools(
        actions.EDIT, "edit_file replace_in_file apply_diff str_replace str_replace_editor apply_patch search_replace"
    )
    | _tools(actions.SEARCH, "grep search glob search_files codebase_search grep_search file_search web_search")
    | _tools(actions.FETCH, "fetch web_fetch fetch_url http_get")
    | _tools(actions.QUESTION, "ask_user ask_followup_question")
    | _tools(actions.OTHER, "run_tests _line_count no_such_tool")
    | {name: tool for name, tool in CLAUDE.items() if name[:1].isupper()}
)
"""For journals and model APIs, whose tools are their host's own: names that many hosts use, and those of Claude."""
