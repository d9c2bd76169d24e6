"""The description of this format."""

from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.layout import Layout
from stenograph.formats.shared.host_tools import HOST_TOOLS

SPEC = FormatSpec(
    name="chat_json",
    what="chats as plain JSON (ShareGPT and the like): who said what, one run for each chat",
    versions="no version: any of the usual names",
    agent=Agent("chat", "a chat"),
    kind="document",
    layout=Layout(sessions=("*.json",), runs=later("stenograph.formats.chat_json.detection", "chats_in")),
    documents=True,
    detect=later("stenograph.formats.chat_json.detection", "detect"),
    identify=later("stenograph.formats.chat_json.detection", "identify"),
    open=later("stenograph.formats.chat_json.format", "ChatJsonFormat"),
    tools=HOST_TOOLS,
)
