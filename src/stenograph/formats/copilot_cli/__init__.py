"""copilot_cli: the session files of GitHub Copilot CLI, subagents included."""

from __future__ import annotations

from stenograph.formats import tools, turns
from stenograph.formats.base import FormatSpec
from stenograph.formats.copilot_cli.detection import detect, identify
from stenograph.formats.copilot_cli.format import CopilotFormat
from stenograph.formats.copilot_cli.program import PROGRAM


class CopilotCliFormat(CopilotFormat):
    """One `events.jsonl`."""

    name = "copilot_cli"


SPEC = FormatSpec(
    name="copilot_cli",
    what="GitHub Copilot CLI session files, with their subagents",
    versions="1.0.102",
    home="~/.copilot/session-state/<session-id>/events.jsonl ($COPILOT_HOME)",
    detect=detect,
    identify=identify,
    open=CopilotCliFormat,
    turns=turns.COPILOT_CLI,
    tools=tools.COPILOT,
    program=PROGRAM,
)
