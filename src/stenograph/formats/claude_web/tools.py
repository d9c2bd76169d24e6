"""The tools of claude.ai, as far as they are known."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("bash_tool", r"\A[Ee]xit code:? (-?\d+)")
    | tools(actions.READ, "view")
    | tools(actions.WRITE, "create_file")
    | tools(actions.EDIT, "str_replace")
    | tools(actions.SEARCH, "web_search conversation_search project_knowledge_search google_drive_search")
    | tools(actions.FETCH, "web_fetch google_drive_fetch")
    | tools(actions.OTHER, "artifacts repl analysis_tool recent_chats launch_extended_search_task present_files")
)
