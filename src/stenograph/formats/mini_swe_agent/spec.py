"""The description of this format."""

from stenograph.fold.agent_tables import BEGINS, ENDS, Agent, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.mini_swe_agent.layout import LAYOUT
from stenograph.formats.shared.tools import shells

SPEC = FormatSpec(
    name="mini_swe_agent",
    what="trajectories of mini-swe-agent (.traj.json)",
    versions="2.4.6",
    agent=Agent("mini-swe-agent", "mini-swe-agent", begin=("mini", "-t", "{prompt}")),
    kind="document",
    layout=LAYOUT,
    documents=True,
    detect=later("stenograph.formats.mini_swe_agent.detection", "detect"),
    identify=later("stenograph.formats.mini_swe_agent.detection", "identify"),
    open=later("stenograph.formats.mini_swe_agent.format", "MiniSweAgentFormat"),
    programs=("mini", "mini-extra"),
    turns=Turns(
        marks={"refused_answer": BEGINS, "result": ENDS},
        interruptions=("Interrupted by user: ",),
    ),
    tools=shells("bash", r'"returncode": (-?\d+)'),
    tokens=("call",),
    labels={"refused_answer": "the answer was refused"},
    sample=b'{"info":{"mini_version":"2.4.6"},"messages":[],"trajectory_format":"mini-swe-agent-1.1"}\n',
)
