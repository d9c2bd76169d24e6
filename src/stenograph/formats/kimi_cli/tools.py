"""The tools of kimi-cli."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("Shell Bash", r"Command failed with exit code: (-?\d+)")
    | tools(actions.READ, "ReadFile ReadMediaFile")
    | tools(actions.WRITE, "WriteFile")
    | tools(actions.EDIT, "StrReplaceFile PatchFile")
    | tools(actions.SEARCH, "Grep Glob SearchWeb")
    | tools(actions.FETCH, "FetchURL")
    | tools(actions.TODO, "SetTodoList")
    | tools(actions.QUESTION, "AskUserQuestion")
    | tools(actions.PLAN, "ExitPlanMode")
    | tools(actions.SUBAGENT, "Agent Task")
    | tools(actions.OTHER, "EnterPlanMode Think SendDMail TaskList TaskOutput TaskStop")
)
