"""The tools of Continue: of its terminal program, then of its editor extensions."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.fold.agent_tables import Tool
from stenograph.formats.shared.tools import Tools, shells, tools

_PATHS = ("filepath", "file_path", "dirpath", "path", "dirPath")


def _files(kind: str, names: str) -> Tools:
    return dict.fromkeys(names.split(), Tool(kind=kind, paths=_PATHS))


TOOLS: Tools = (
    shells("Bash run_terminal_command builtin_run_terminal_command", r"exit code (-?\d+)")
    | _files(actions.READ, "Read List read_file read_file_range view_subdirectory ls builtin_read_file builtin_ls")
    | _files(actions.READ, "read_currently_open_file view_diff view_repo_map")
    | _files(actions.WRITE, "Write create_new_file builtin_create_new_file")
    | _files(actions.EDIT, "Edit MultiEdit edit_existing_file single_find_and_replace multi_edit")
    | tools(actions.SEARCH, "Search grep_search file_glob_search search_web codebase")
    | tools(actions.FETCH, "Fetch fetch_url_content")
    | tools(actions.TODO, "Checklist")
    | tools(actions.QUESTION, "AskQuestion")
    | tools(actions.SUBAGENT, "Subagent")
    | tools(actions.OTHER, "Status Exit Skills ReportFailure UploadArtifact create_rule_block request_rule read_skill")
)
