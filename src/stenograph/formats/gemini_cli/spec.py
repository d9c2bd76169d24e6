"""The description of this format."""

from stenograph.formats.base import FormatSpec, later
from stenograph.formats.gemini_cli.agent import AGENT
from stenograph.formats.gemini_cli.layout import LAYOUT
from stenograph.formats.gemini_cli.tools import TOOLS
from stenograph.formats.layout import Home
from stenograph.formats.settings import Hooks

SPEC = FormatSpec(
    name="gemini_cli",
    what="Gemini CLI's chat files, with their subagents",
    versions="0.61.0",
    agent=AGENT,
    kind="file",
    layout=LAYOUT,
    documents=True,
    detect=later("stenograph.formats.gemini_cli.identity", "detect"),
    identify=later("stenograph.formats.gemini_cli.identity", "identify"),
    open=later("stenograph.formats.gemini_cli.format", "GeminiCliFormat"),
    programs=("gemini", "gemini-cli"),
    tools=TOOLS,
    hooks=Hooks(
        settings=Home(variable="GEMINI_CLI_HOME", folder=".gemini/settings.json"),
        # Not SessionStart, which names another file than the one in which a resumed session continues.
        events=("BeforeAgent", "AfterAgent", "SessionEnd"),
        is_parent=True,  # it may end before the hooks of SessionEnd do
        turned_off_by="hooksConfig.enabled",
        turned_off_is=False,
    ),
    labels={"last_updated": "Session file updated"},
    tokens=("call",),
    sample=b'{"sessionId":"s","projectHash":"h","startTime":"","lastUpdated":"","kind":"main"}\n',
)
