"""The tools of Cursor's agent, as far as they are known."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("Shell run_terminal_cmd", r"\A[Ee]xit code:? (-?\d+)")
    | tools(actions.READ, "Read ReadFile LS read_file list_dir ReadLints")
    | tools(actions.WRITE, "Write Delete")
    | tools(actions.EDIT, "StrReplace ApplyPatch EditNotebook edit_file search_replace")
    | tools(actions.SEARCH, "Grep Glob SemanticSearch WebSearch codebase_search grep_search file_search web_search")
    | tools(actions.FETCH, "WebFetch")
    | tools(actions.TODO, "TodoWrite todo_write")
    | tools(actions.QUESTION, "AskQuestion")
    | tools(actions.SUBAGENT, "Task Agent Subagent")
    | tools(actions.PLAN, "CreatePlan SwitchMode")
    | tools(actions.OTHER, "CallMcpTool FetchMcpResource Await")
)
