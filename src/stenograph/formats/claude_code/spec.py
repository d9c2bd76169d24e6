"""The description of this format."""

from stenograph.fold.agent_tables import INTERRUPTS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.claude_code.agent import AGENT
from stenograph.formats.claude_code.layout import LAYOUT
from stenograph.formats.claude_code.tools import TOOLS, VOLATILE
from stenograph.formats.claude_code.wording import LABELS, NOTICES
from stenograph.formats.layout import Home
from stenograph.formats.settings import Hooks, McpSettings

STOPPED = ("[Request interrupted by user",)
"""How a message begins that only says that the user interrupted the agent."""

SPEC = FormatSpec(
    name="claude_code",
    what="Claude Code and Claude Agent SDK session files, with their subagents",
    versions="1.0.60, 2.0.30, 2.1.197, 2.1.325",
    agent=AGENT,
    kind="file",
    layout=LAYOUT,
    detect=later("stenograph.formats.claude_code.detection", "detect"),
    identify=later("stenograph.formats.claude_code.detection", "identify"),
    open=later("stenograph.formats.claude_code.format", "ClaudeCodeFormat"),
    programs=("claude", "claude-code"),
    adapters={"claude_agent_sdk": "Claude Agent SDK"},
    turns=Turns(marks={"interrupted": INTERRUPTS}, interruptions=STOPPED),
    tools=TOOLS,
    labels=LABELS,
    notices=NOTICES,
    hooks=Hooks(
        settings=Home(variable="CLAUDE_CONFIG_DIR", default=".claude", folder="settings.json"),
        events=(
            *("SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "SubagentStop", "Stop", "SessionEnd"),
        ),
        in_background="PostToolUse",
        background_since=(2, 1, 30),  # announced in January 2026; from here on it surely works
        is_parent=True,  # it ends the hooks of SessionEnd after 1.5 seconds, and does not wait for those in background
        turned_off_by="disableAllHooks",
    ),
    mcp=McpSettings(settings=Home(variable="CLAUDE_CONFIG_DIR", folder=".claude.json"), syntax="json"),
    volatile=VOLATILE,
    tokens=("call",),
    sample=b'{"type":"user","sessionId":"s","uuid":"u","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user"}}\n',
)
