"""The description of this format."""

from stenograph.fold.agent_tables import Agent, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.layout import Database, Home, Layout
from stenograph.formats.openclaw.tools import TOOLS

LAYOUT = Layout(
    homes=(Home(default=".openclaw", variable="OPENCLAW_STATE_DIR", folder="agents"),),
    sessions=("{agent}/agent/openclaw-agent.sqlite",),
    database=Database(
        sessions=later("stenograph.formats.openclaw.stored", "stored_sessions"),
        has_session=later("stenograph.formats.openclaw.stored", "has_session"),
    ),
    works_elsewhere=True,
)


SPEC = FormatSpec(
    name="openclaw",
    what="the database of an OpenClaw agent",
    versions="2026.9.6",
    agent=Agent("openclaw", "OpenClaw"),
    kind="database",
    layout=LAYOUT,
    detect=later("stenograph.formats.openclaw.detection", "detect"),
    identify=later("stenograph.formats.openclaw.detection", "identify"),
    open=later("stenograph.formats.openclaw.format", "OpenClawFormat"),
    programs=("openclaw",),
    turns=Turns(interrupting_errors=("aborted",)),
    tools=TOOLS,
    fork=("session_window", "forked_from"),
    labels={"session_window": "Session begins", "branch": "Another branch"},
    tokens=("call",),
    sample=b'{"type":"session_window","session_key":"agent:main:main"}\n',
)
