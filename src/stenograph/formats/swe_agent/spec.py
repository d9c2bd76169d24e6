"""The description of this format."""

from stenograph.fold import actions
from stenograph.fold.agent_tables import ENDS, Agent, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.layout import Layout
from stenograph.formats.shared.tools import editors, shells, tools

SPEC = FormatSpec(
    name="swe_agent",
    what="trajectories of SWE-agent (.traj)",
    versions="0.7 to 1.1",
    agent=Agent("swe-agent", "SWE-agent"),
    kind="document",
    layout=Layout(sessions=("*.traj",)),
    documents=True,
    detect=later("stenograph.formats.swe_agent.detection", "detect"),
    identify=later("stenograph.formats.swe_agent.detection", "identify"),
    open=later("stenograph.formats.swe_agent.format", "SweAgentFormat"),
    turns=Turns(marks={"result": ENDS}),
    tools=shells("bash", r"exit code:? (-?\d+)")
    | tools(actions.READ, "open goto scroll_up scroll_down")
    | tools(actions.WRITE, "create")
    | editors("str_replace_editor")
    | tools(actions.EDIT, "edit insert")
    | tools(actions.SEARCH, "find_file search_dir search_file")
    | tools(actions.OTHER, "submit exit_forfeit"),
    tokens=("total",),
)
