"""The description of this format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.fold.agent_tables import Agent, Turns
from stenograph.formats.base import SURE, FormatSpec, Identity
from stenograph.formats.layout import Database, Home, Layout
from stenograph.formats.openclaw.stored import NAME, has_session, stored_sessions
from stenograph.formats.openclaw.tools import TOOLS
from stenograph.formats.shared.loose import a_dict, a_list, a_str
from stenograph.formats.shared.pi_entries.detection import identity_of
from stenograph.formats.shared.pi_entries.format import ABORTED, PiEntryFormat

_TABLES = {"transcript_events", "session_windows", "session_nodes", "schema_meta"}

LAYOUT = Layout(
    homes=(Home(default=".openclaw", variable="OPENCLAW_STATE_DIR", folder="agents"),),
    sessions=("{agent}/agent/openclaw-agent.sqlite",),
    database=Database(sessions=stored_sessions, has_session=has_session),
    works_elsewhere=True,
)


class OpenClawFormat(PiEntryFormat):
    """The rows of one session."""

    name = NAME


def detect(records: Sequence[Any], path: str) -> int:
    """How surely it is a database with OpenClaw's tables, or rows that were read from one."""
    first = a_dict(records[0])
    if first.get("database") == "sqlite":
        return SURE if {name for name in a_list(first.get("tables")) if isinstance(name, str)} >= _TABLES else 0
    return SURE if first.get("type") == "session_window" and a_str(first.get("session_key")) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session of rows; a database holds many, which its layout tells."""
    return identity_of(records, path)


SPEC = FormatSpec(
    name=NAME,
    what="the database of an OpenClaw agent",
    versions="2026.9.6",
    agent=Agent("openclaw", "OpenClaw"),
    kind="database",
    layout=LAYOUT,
    detect=detect,
    identify=identify,
    open=OpenClawFormat,
    programs=("openclaw",),
    turns=Turns(interrupting_errors=(ABORTED,)),
    tools=TOOLS,
    fork=("session_window", "forked_from"),
    labels={"session_window": "Session begins", "branch": "Another branch"},
    tokens=("call",),
    sample=b'{"type":"session_window","session_key":"agent:main:main"}\n',
)
