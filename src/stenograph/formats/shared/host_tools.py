"""Tools of hosts that journals and model APIs record: names that many hosts use, and those of Claude Code."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.claude_code.tools import TOOLS as CLAUDE_TOOLS
from stenograph.formats.shared.tools import Tools, shells, tools

HOST_TOOLS: Tools = (
    shells(
        "command shell bash execute_bash run_command run_terminal_cmd execute_command run_shell terminal",
        r"\A[Ee]xit code:? (-?\d+)",
    )
    | tools(actions.READ, "read_file view_file open_file list_files list_dir list_directory cat ls")
    | tools(actions.WRITE, "write_file create_file write_to_file save_file")
    | tools(
        actions.EDIT, "edit_file replace_in_file apply_diff str_replace str_replace_editor apply_patch search_replace"
    )
    | tools(actions.SEARCH, "grep search glob search_files codebase_search grep_search file_search web_search")
    | tools(actions.FETCH, "fetch web_fetch fetch_url http_get")
    | tools(actions.QUESTION, "ask_user ask_followup_question")
    | tools(actions.OTHER, "run_tests _line_count no_such_tool")
    | {name: tool for name, tool in CLAUDE_TOOLS.items() if name[:1].isupper()}
)
