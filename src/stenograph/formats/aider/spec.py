"""The description of this format."""

from stenograph.fold.agent_tables import Agent
from stenograph.formats.aider.detection import detect, identify, is_history
from stenograph.formats.aider.format import AiderFormat
from stenograph.formats.aider.layout import LAYOUT
from stenograph.formats.base import FormatSpec

SPEC = FormatSpec(
    name="aider",
    what="Aider's histories of chats (.aider.chat.history.md)",
    versions="0.86.2",
    agent=Agent("aider", "Aider", begin=("aider", "--message", "{prompt}")),
    kind="stream",
    layout=LAYOUT,
    text=is_history,
    detect=detect,
    identify=identify,
    open=AiderFormat,
    programs=("aider",),
    tokens=("call",),
    sample=b"# aider chat started at 2026-01-01 00:00:00\n\n> Aider v0.86.2  \n",
)
