"""The tools of Cline 3."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.fold.agent_tables import Tool
from stenograph.formats.shared.tools import Tools, tools

TOOLS: Tools = (
    {
        "run_commands": Tool(kind=actions.SHELL, commands=("commands",), exit_code=r"exited with code (-?\d+)"),
        "read_files": Tool(kind=actions.READ, paths=("files", "file_paths", "path")),
        "editor": Tool(kind=actions.EDIT, old=("old_text", "old_str"), new=("new_text", "new_str")),
    }
    | tools(actions.EDIT, "apply_patch")
    | tools(actions.SEARCH, "search_codebase")
    | tools(actions.FETCH, "fetch_web_content")
    | tools(actions.QUESTION, "ask_question")
    | tools(actions.SUBAGENT, "spawn_agent team_spawn_teammate")
    | tools(actions.OTHER, "submit_and_exit skills switch_to_act_mode")
)
