"""acp: the Agent Client Protocol, as any agent and its client speak it."""

from __future__ import annotations

from stenograph.formats import tools, turns
from stenograph.formats.acp.detection import detect, identify
from stenograph.formats.acp.parser import AcpFormat
from stenograph.formats.base import FormatSpec

SPEC = FormatSpec(
    name="acp",
    what="The Agent Client Protocol, recorded: gemini --acp, copilot --acp, opencode acp",
    versions="protocol 1; Gemini CLI 0.61.0, GitHub Copilot CLI 1.0.102, OpenCode 1.18.33",
    on_disk=False,
    detect=detect,
    identify=identify,
    open=AcpFormat,
    turns=turns.ACP,
    tools=tools.ACP,
)
