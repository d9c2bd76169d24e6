"""The description of this format."""

from stenograph.fold.agent_tables import INTERRUPTS, Turns
from stenograph.formats.base import FormatSpec
from stenograph.formats.claude_code.agent import AGENT
from stenograph.formats.claude_code.format import ClaudeCodeFormat, detect, identify
from stenograph.formats.claude_code.layout import LAYOUT
from stenograph.formats.claude_code.tools import TOOLS

STOPPED = ("[Request interrupted by user",)
"""How a message begins that only says that the user interrupted the agent."""

SPEC = FormatSpec(
    name="claude_code",
    what="Claude Code and Claude Agent SDK session files, with their subagents",
    versions="1.0.60, 2.0.30, 2.1.197, 2.1.325",
    agent=AGENT,
    kind="file",
    layout=LAYOUT,
    detect=detect,
    identify=identify,
    open=ClaudeCodeFormat,
    programs=("claude", "claude-code"),
    adapters={"claude_agent_sdk": "Claude Agent SDK"},
    turns=Turns(marks={"interrupted": INTERRUPTS}, interruptions=STOPPED),
    tools=TOOLS,
    tokens=("call",),
)
