"""The description of this format."""

from stenograph.formats.base import FormatSpec, later
from stenograph.formats.hermes_agent.agent import AGENT
from stenograph.formats.hermes_agent.layout import LAYOUT
from stenograph.formats.hermes_agent.tools import TOOLS

SPEC = FormatSpec(
    name="hermes_agent",
    what="Hermes Agent's database, with the sessions of its subagents",
    versions="0.19.0 (schema 22)",
    agent=AGENT,
    kind="database",
    layout=LAYOUT,
    documents=True,
    detect=later("stenograph.formats.hermes_agent.detection", "detect"),
    identify=later("stenograph.formats.hermes_agent.detection", "identify"),
    open=later("stenograph.formats.hermes_agent.format", "HermesFormat"),
    programs=("hermes",),
    tools=TOOLS,
    fork=("session", "continues"),
    tokens=("turn",),
    sample=b'{"table":"sessions","id":"20261116_125918_570964","source":"cli","started_at":1}\n',
)
