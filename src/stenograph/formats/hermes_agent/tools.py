"""The tools of Hermes Agent."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("terminal", r"exit_code\D{1,4}(-?\d+)")
    | tools(actions.READ, "read_file vision_analyze skill_view skills_list session_search")
    | tools(actions.WRITE, "write_file")
    | tools(actions.EDIT, "patch skill_manage")
    | tools(actions.SEARCH, "search_files web_search")
    | tools(actions.FETCH, "web_extract browser_navigate browser_snapshot browser_click browser_type browser_scroll")
    | tools(actions.FETCH, "browser_back browser_press browser_console browser_get_images browser_vision")
    | tools(actions.TODO, "todo")
    | tools(actions.QUESTION, "clarify")
    | tools(actions.SUBAGENT, "delegate_task")
    | tools(actions.OTHER, "execute_code process memory cronjob")
)
