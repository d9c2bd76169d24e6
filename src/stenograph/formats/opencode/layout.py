"""Where OpenCode keeps its sessions: one database with all of them, and a folder for outputs that were too long."""

from __future__ import annotations

from stenograph.formats.base import later
from stenograph.formats.layout import Database, Home, Layout, folder_of, is_name, last_name


def _stored_output(main: str, session_id: str, name: str) -> str | None:
    """The path of a stored output, beside the database."""
    base = last_name(name)
    return f"{folder_of(main)}/tool-output/{base}" if is_name(base) else None


LAYOUT = Layout(
    homes=(Home(variable="XDG_DATA_HOME", default=".local/share", folder="opencode", file_variable="OPENCODE_DB"),),
    sessions=("*.db",),  # one for each release channel of OpenCode
    side_file=_stored_output,
    database=Database(
        sessions=later("stenograph.formats.opencode.stored", "stored_sessions"),
        has_session=later("stenograph.formats.opencode.stored", "has_session"),
    ),
)
