"""The description of this format."""

from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.cline_task.detection import NAME, SIDE_FILE
from stenograph.formats.cline_task.tools import TOOLS
from stenograph.formats.layout import Home, Layout, folder_of

_EDITORS = (".config/Code/User/globalStorage", "Library/Application Support/Code/User/globalStorage")
_EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline")


def _beside(main: str, session_id: str, name: str) -> str | None:
    """The messages that the editor showed, in the task's folder."""
    return f"{folder_of(main)}/{name}" if name == SIDE_FILE else None


SPEC = FormatSpec(
    name="cline_task",
    what="task folders of Cline before version 4 and of Roo Code",
    versions="as other projects describe them: no run of ours",
    agent=Agent("cline-task", "Cline (tasks)"),
    kind="document",
    layout=Layout(
        homes=tuple(Home(default=editor, folder=f"{each}/tasks") for editor in _EDITORS for each in _EXTENSIONS),
        sessions=("{session}/" + NAME,),
        side_file=_beside,
    ),
    documents=True,
    detect=later("stenograph.formats.cline_task.detection", "detect"),
    identify=later("stenograph.formats.cline_task.detection", "identify"),
    open=later("stenograph.formats.cline_task.format", "ClineTaskFormat"),
    tools=TOOLS,
    tokens=("call",),
)
