"""The tools of Kimi Code."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, shells, tools

TOOLS: Tools = (
    shells("Bash", r"Command failed with exit code: (-?\d+)")
    | tools(actions.READ, "Read ReadMediaFile")
    | tools(actions.WRITE, "Write")
    | tools(actions.EDIT, "Edit")
    | tools(actions.SEARCH, "Grep Glob WebSearch")
    | tools(actions.FETCH, "FetchURL")
    | tools(actions.TODO, "TodoList")
    | tools(actions.QUESTION, "AskUserQuestion")
    | tools(actions.PLAN, "ExitPlanMode")
    | tools(actions.SUBAGENT, "Agent AgentSwarm")
    | tools(
        actions.OTHER,
        "EnterPlanMode Skill TaskList TaskOutput TaskStop CreateGoal GetGoal SetGoalBudget UpdateGoal CronCreate "
        "CronDelete CronList",
    )
)
