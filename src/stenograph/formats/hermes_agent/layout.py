"""Where Hermes Agent keeps its sessions: one database with all of them."""

from __future__ import annotations

from stenograph.formats.base import later
from stenograph.formats.layout import Database, Home, Layout

LAYOUT = Layout(
    homes=(Home(default=".hermes", variable="HERMES_HOME"),),
    sessions=("state.db",),
    database=Database(
        sessions=later("stenograph.formats.hermes_agent.stored", "stored_sessions"),
        has_session=later("stenograph.formats.hermes_agent.stored", "has_session"),
    ),
)
