"""The description of this format: OpenCode's rows under another name, known by tables that only Kilo has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import SURE, FormatSpec
from stenograph.formats.layout import Database, Home, Layout
from stenograph.formats.opencode.detection import fork_of, identify, is_rows
from stenograph.formats.opencode.format import OpenCodeFormat
from stenograph.formats.opencode.layout import LAYOUT as OPENCODE_LAYOUT
from stenograph.formats.opencode.spec import TURNS
from stenograph.formats.opencode.stored import has_session, stored_sessions
from stenograph.formats.opencode.tools import TOOLS
from stenograph.formats.settings import Plugin
from stenograph.formats.shared.plugin_text import STORE_PLUGIN

NAME = "kilo"

LAYOUT = Layout(
    homes=(Home(variable="XDG_DATA_HOME", default=".local/share", folder="kilo", file_variable="KILO_DB"),),
    sessions=("*.db",),
    side_file=OPENCODE_LAYOUT.side_file,
    database=Database(sessions=partial(stored_sessions, program=NAME), has_session=has_session),
)


class KiloFormat(OpenCodeFormat):
    """The rows of one session, or of a whole database."""

    name = NAME


def detect(records: Sequence[Any], path: str) -> int:
    """How surely it is a database of OpenCode's with a table of Kilo's own, or rows that were read from one."""
    return SURE if is_rows(records) and fork_of(records) == NAME else 0


SPEC = FormatSpec(
    name=NAME,
    what="Kilo's database, with the sessions of its subagents",
    versions="7.7.7",
    agent=Agent("kilo", "Kilo", resume=("kilo", "--session", "{session}"), begin=("kilo", "--prompt", "{prompt}")),
    kind="database",
    layout=LAYOUT,
    detect=detect,
    identify=identify,
    open=KiloFormat,
    programs=("kilo", "kilocode"),
    turns=TURNS,
    tools=TOOLS,
    plugin=Plugin(
        file=Home(variable="XDG_CONFIG_HOME", default=".config", folder="kilo/plugin/stenograph.js"), text=STORE_PLUGIN
    ),
    tokens=("call",),
    sample=b'{"table":"session","program":"kilo","id":"ses_1","directory":"/","version":"1","time_created":1}\n',
)
