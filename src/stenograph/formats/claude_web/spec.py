"""The description of this format."""

from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.claude_web.tools import TOOLS
from stenograph.formats.layout import Layout

SPEC = FormatSpec(
    name="claude_web",
    what="conversations that claude.ai exports (conversations.json, or the ZIP), one run for each",
    versions="exports of 2026-11",
    agent=Agent("claude-ai", "claude.ai"),
    kind="document",
    layout=Layout(sessions=("*.json",), runs=later("stenograph.formats.claude_web.detection", "conversations_in")),
    documents=True,
    detect=later("stenograph.formats.claude_web.detection", "detect"),
    identify=later("stenograph.formats.claude_web.detection", "identify"),
    open=later("stenograph.formats.claude_web.format", "ClaudeWebFormat"),
    tools=TOOLS,
)
