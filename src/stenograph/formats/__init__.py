"""How each agent writes: bytes or objects to canonical events, one package each. No I/O, no clock.

Another package adds a format with these names: docs/how-to/add-a-format.md.
"""

from stenograph.fold.agent_tables import Agent, Tool, Turns
from stenograph.formats.base import (
    LIKELY,
    POSSIBLE,
    SURE,
    Context,
    Format,
    FormatSpec,
    Identity,
    LineFormat,
    Report,
)
from stenograph.formats.layout import Database, Home, Layout, Links, Sidecar, StoredSession
from stenograph.formats.settings import Hooks, McpSettings

__all__ = [
    "LIKELY",
    "POSSIBLE",
    "SURE",
    "Agent",
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
    "McpSettings",
    "Report",
    "Sidecar",
    "StoredSession",
    "Tool",
    "Turns",
]
