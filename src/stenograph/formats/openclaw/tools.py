"""The tools of OpenClaw."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("exec", r"\(Command exited with code (-?\d+)\)\s*\Z")
    | tools(actions.READ, "read ls image")
    | tools(actions.WRITE, "write")
    | tools(actions.EDIT, "edit apply_patch")
    | tools(actions.SEARCH, "grep find web_search memory_search tool_search")
    | tools(actions.FETCH, "web_fetch memory_get")
    | tools(actions.SUBAGENT, "sessions_spawn sessions_yield sessions_send sessions_history sessions_list subagents")
    | tools(
        actions.OTHER,
        "process openclaw tool_describe tool_call session_status agents_list browser canvas nodes cron message gateway "
        "tts no_such_tool",
    )
)
