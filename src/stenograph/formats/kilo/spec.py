"""The description of this format: OpenCode's rows under another name, known by tables that only Kilo has."""

from __future__ import annotations

from functools import partial

from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.layout import Database, Home, Layout
from stenograph.formats.opencode.layout import LAYOUT as OPENCODE_LAYOUT
from stenograph.formats.opencode.spec import TURNS
from stenograph.formats.opencode.tools import TOOLS
from stenograph.formats.settings import Plugin
from stenograph.formats.shared.plugin_text import STORE_PLUGIN

LAYOUT = Layout(
    homes=(Home(variable="XDG_DATA_HOME", default=".local/share", folder="kilo", file_variable="KILO_DB"),),
    sessions=("*.db",),
    side_file=OPENCODE_LAYOUT.side_file,
    database=Database(
        sessions=partial(later("stenograph.formats.opencode.stored", "stored_sessions"), program="kilo"),
        has_session=later("stenograph.formats.opencode.stored", "has_session"),
    ),
)


SPEC = FormatSpec(
    name="kilo",
    what="Kilo's database, with the sessions of its subagents",
    versions="7.7.7",
    agent=Agent("kilo", "Kilo", resume=("kilo", "--session", "{session}"), begin=("kilo", "--prompt", "{prompt}")),
    kind="database",
    layout=LAYOUT,
    detect=later("stenograph.formats.kilo.detection", "detect"),
    identify=later("stenograph.formats.opencode.detection", "identify"),
    open=later("stenograph.formats.kilo.format", "KiloFormat"),
    programs=("kilo", "kilocode"),
    turns=TURNS,
    tools=TOOLS,
    plugin=Plugin(
        file=Home(variable="XDG_CONFIG_HOME", default=".config", folder="kilo/plugin/stenograph.js"), text=STORE_PLUGIN
    ),
    tokens=("call",),
    sample=b'{"table":"session","program":"kilo","id":"ses_1","directory":"/","version":"1","time_created":1}\n',
)
