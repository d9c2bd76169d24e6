"""The description of this format."""

from stenograph.fold.agent_tables import Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.layout import Home
from stenograph.formats.opencode.agent import AGENT
from stenograph.formats.opencode.layout import LAYOUT
from stenograph.formats.opencode.sessions import NAME
from stenograph.formats.opencode.tools import TOOLS
from stenograph.formats.settings import Plugin
from stenograph.formats.shared.plugin_text import STORE_PLUGIN

TURNS = Turns(interrupting_errors=("MessageAbortedError",))

SPEC = FormatSpec(
    name=NAME,
    what="OpenCode's database, with the sessions of its subagents",
    versions="1.18.33",
    agent=AGENT,
    kind="database",
    layout=LAYOUT,
    documents=True,
    detect=later("stenograph.formats.opencode.detection", "detect"),
    identify=later("stenograph.formats.opencode.detection", "identify"),
    open=later("stenograph.formats.opencode.format", "OpenCodeFormat"),
    programs=("opencode",),
    turns=TURNS,
    tools=TOOLS,
    plugin=Plugin(
        file=Home(variable="XDG_CONFIG_HOME", default=".config", folder="opencode/plugin/stenograph.js"),
        text=STORE_PLUGIN,
        note="OpenCode loads the plugin at its next start, and then installs its own plugin package once",
    ),
    tokens=("call",),
    sample=b'{"table":"session","id":"ses_1","directory":"/","version":"1","time_created":1}\n',
)
