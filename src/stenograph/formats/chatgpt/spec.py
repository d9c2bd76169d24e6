"""The description of this format."""

from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.chatgpt.tools import TOOLS
from stenograph.formats.layout import Layout

SPEC = FormatSpec(
    name="chatgpt",
    what="conversations that ChatGPT exports (conversations.json, or the ZIP), one run for each",
    versions="exports of 2026-11",
    agent=Agent("chatgpt", "ChatGPT"),
    kind="document",
    layout=Layout(sessions=("*.json",), runs=later("stenograph.formats.chatgpt.detection", "conversations_in")),
    documents=True,
    detect=later("stenograph.formats.chatgpt.detection", "detect"),
    identify=later("stenograph.formats.chatgpt.detection", "identify"),
    open=later("stenograph.formats.chatgpt.format", "ChatGptFormat"),
    tools=TOOLS,
)
