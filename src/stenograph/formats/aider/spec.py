"""The description of this format."""

from stenograph.fold.agent_tables import Agent
from stenograph.formats.aider.layout import LAYOUT
from stenograph.formats.base import FormatSpec, later

SPEC = FormatSpec(
    name="aider",
    what="Aider's histories of chats (.aider.chat.history.md)",
    versions="0.86.2",
    agent=Agent("aider", "Aider", begin=("aider", "--message", "{prompt}")),
    kind="stream",
    layout=LAYOUT,
    text=later("stenograph.formats.aider.detection", "is_history"),
    detect=later("stenograph.formats.aider.detection", "detect"),
    identify=later("stenograph.formats.aider.detection", "identify"),
    open=later("stenograph.formats.aider.format", "AiderFormat"),
    programs=("aider",),
    tokens=("call",),
    sample=b"# aider chat started at 2026-01-01 00:00:00\n\n> Aider v0.86.2  \n",
)
