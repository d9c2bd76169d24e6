"""The tools of the Agent Client Protocol: its own kinds, because a client does not see names."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.fold.agent_tables import Tool
from stenograph.formats.shared.tools import Tools, tools

TOOLS: Tools = (
    {
        "execute": Tool(
            kind=actions.SHELL, command=("command", "cmd", "title"), exit_code=r"completed with exit code (-?\d+)>"
        )
    }
    | tools(actions.READ, "read")
    | tools(actions.EDIT, "edit delete move")
    | tools(actions.SEARCH, "search")
    | tools(actions.FETCH, "fetch")
    | tools(actions.OTHER, "think other switch_mode no_such_tool")
)
