"""The tools of pi."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("bash powershell exec", r"Command exited with code (-?\d+)\)?\s*\Z")
    | tools(actions.READ, "read ls")
    | tools(actions.WRITE, "write")
    | tools(actions.EDIT, "edit apply_patch")
    | tools(actions.SEARCH, "grep find")
    | tools(actions.OTHER, "no_such_tool")
)
