"""How each agent writes: bytes or objects to canonical events, one package each. No I/O, no clock.

Another package adds a format with these names: docs/how-to/add-a-format.md.
"""

from stenograph.fold.agent_tables import Agent, Tool, Turns
from stenograph.formats.base import (
    LIKELY,
    POSSIBLE,
    SURE,
    Binary,
    Context,
    Format,
    FormatSpec,
    Identity,
    LineFormat,
    Report,
)
from stenograph.formats.layout import Contents, Database, Home, Layout, Links, ManySessions, Sidecar, StoredSession
from stenograph.formats.settings import Hooks, McpSettings, Notify, Plugin

__all__ = [
    "LIKELY",
    "POSSIBLE",
    "SURE",
    "Agent",
    "Binary",
    "Contents",
    "Context",
    "Database",
    "Format",
    "FormatSpec",
    "Home",
    "Hooks",
    "Identity",
    "Layout",
    "LineFormat",
    "Links",
    "ManySessions",
    "McpSettings",
    "Notify",
    "Plugin",
    "Report",
    "Sidecar",
    "StoredSession",
    "Tool",
    "Turns",
]
