"""The description of this format."""

from stenograph.fold.agent_tables import BEGINS, ENDS, INTERRUPTS, Turns
from stenograph.formats.base import FormatSpec
from stenograph.formats.copilot_cli.agent import AGENT
from stenograph.formats.copilot_cli.tools import TOOLS
from stenograph.formats.copilot_stream.format import CopilotStreamFormat, detect, identify

SPEC = FormatSpec(
    name="copilot_stream",
    what="GitHub Copilot CLI's stdout: copilot -p --output-format json",
    versions="1.0.102",
    agent=AGENT,
    kind="stream",
    detect=detect,
    identify=identify,
    open=CopilotStreamFormat,
    turns=Turns(
        marks={"assistant.turn_start": BEGINS, "assistant.idle": ENDS, "result": ENDS, "abort": INTERRUPTS},
        announced=("assistant.turn_start",),
    ),
    tools=TOOLS,
    tokens=("call", "total"),
)
