"""The description of this format."""

from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.layout import Layout
from stenograph.formats.shared.host_tools import HOST_TOOLS

SPEC = FormatSpec(
    name="inspect_log",
    what="logs of Inspect AI (.json, .eval), one run for each sample",
    versions="log version 2 (inspect_ai 0.3.133 to 0.3.285)",
    agent=Agent("inspect", "Inspect AI"),
    kind="document",
    layout=Layout(sessions=("*.eval", "*.json"), runs=later("stenograph.formats.inspect_log.samples", "samples_in")),
    documents=True,
    detect=later("stenograph.formats.inspect_log.detection", "detect"),
    identify=later("stenograph.formats.inspect_log.detection", "identify"),
    open=later("stenograph.formats.inspect_log.format", "InspectLogFormat"),
    tools=HOST_TOOLS,
    tokens=("call", "total"),
)
