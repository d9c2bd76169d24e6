"""The tools of gptme by name; in its Markdown a tool is called by a code block in its language."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("shell tmux", r"^Return code: (-?\d+)$")
    | tools(actions.READ, "read vision view_image")
    | tools(actions.WRITE, "save append")
    | tools(actions.EDIT, "patch patch_many morph hashline_edit")
    | tools(actions.SEARCH, "rag recall chats")
    | tools(actions.FETCH, "browser")
    | tools(actions.TODO, "todo")
    | tools(actions.QUESTION, "choice clarify elicit form")
    | tools(actions.SUBAGENT, "subagent")
    | tools(
        actions.OTHER,
        "ipython complete computer convert gh lessons mcp memory progress request_tool_change restart screenshot vent "
        "watch autocommit autocompact precommit pruner",
    )
)
LANGUAGES = {name: name for name in TOOLS} | {"py": "ipython"}
"""The tool that runs a block of code, by the block's language."""
ARGUMENTS = {
    "shell": ("", "command"),
    "tmux": ("", "command"),
    "ipython": ("", "code"),
    "save": ("path", "content"),
    "append": ("path", "content"),
    "patch": ("path", "patch"),
    "read": ("path", "paths"),
}
"""The argument names for the words after a block's language and for the block's content."""
