"""Where Hermes Agent keeps its sessions: one database with all of them."""

from __future__ import annotations

from stenograph.formats.hermes_agent.stored import has_session, stored_sessions
from stenograph.formats.layout import Database, Home, Layout

LAYOUT = Layout(
    homes=(Home(default=".hermes", variable="HERMES_HOME"),),
    sessions=("state.db",),
    database=Database(sessions=stored_sessions, has_session=has_session),
)
