"""The tools of OpenHands 1."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, editors, shells, tools

TOOLS: Tools = (
    shells("terminal execute_bash bash", r"exit code (-?\d+)")
    | editors("file_editor str_replace_editor planning_file_editor")
    | tools(actions.EDIT, "apply_patch edit_file")
    | tools(actions.WRITE, "write_file")
    | tools(actions.READ, "read_file list_directory")
    | tools(actions.SEARCH, "grep glob")
    | tools(actions.FETCH, "browser_navigate browser_get_state browser_get_content fetch")
    | tools(actions.TODO, "task_tracker")
    | tools(actions.SUBAGENT, "delegate task")
    | tools(actions.OTHER, "finish think")
)
