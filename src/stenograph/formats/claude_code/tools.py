"""The tools of Claude Code."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("Bash PowerShell", r"\A(?:Error: )?Exit code (-?\d+)")
    | tools(actions.READ, "Read NotebookRead LS ReadMcpResource ReadMcpResourceTool")
    | tools(actions.WRITE, "Write")
    | tools(actions.EDIT, "Edit MultiEdit NotebookEdit str_replace_editor str_replace_based_edit_tool")
    | tools(actions.SEARCH, "Glob Grep WebSearch ToolSearch LSP ListMcpResources ListMcpResourcesTool")
    | tools(actions.FETCH, "WebFetch")
    | tools(actions.TODO, "TodoWrite TodoRead TaskCreate TaskUpdate TaskList TaskGet")
    | tools(actions.QUESTION, "AskUserQuestion")
    | tools(actions.PLAN, "ExitPlanMode exit_plan_mode")
    | tools(actions.SUBAGENT, "Task Agent SendMessage TeamCreate TeamDelete")
    | tools(
        actions.OTHER,
        "BashOutput KillBash KillShell TaskOutput TaskStop AgentOutputTool Skill SlashCommand EnterPlanMode"
        " EnterWorktree ExitWorktree StructuredOutput NoSuchTool CronCreate CronDelete CronList Config Sleep",
    )
)

VOLATILE = (
    r"agentId: \w+",
    r"\b(?:subagent_tokens|total_tokens|tool_uses|duration_ms): \d+",
    r"\b\d+ tokens\b",
    r"\boutput_file: \S+",
)
"""What differs in the results of these tools each time they run."""
