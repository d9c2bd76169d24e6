"""The tools of OpenCode."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("bash shell", r"\A[Ee]xit code:? (-?\d+)")
    | tools(actions.READ, "read list ls")
    | tools(actions.WRITE, "write")
    | tools(actions.EDIT, "edit multiedit patch apply_patch")
    | tools(actions.SEARCH, "grep glob websearch codesearch lsp")
    | tools(actions.FETCH, "webfetch")
    | tools(actions.TODO, "todowrite todoread")
    | tools(actions.QUESTION, "question")
    | tools(actions.PLAN, "plan_exit")
    | tools(actions.SUBAGENT, "task")
    | tools(actions.OTHER, "invalid skill batch plan_enter no_such_tool")
)
