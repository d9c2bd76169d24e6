"""The description of this format."""

from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.layout import Layout, folder_of, is_name
from stenograph.formats.shared.host_tools import HOST_TOOLS
from stenograph.formats.shared.side_text import media_type_of


def _beside(main: str, session_id: str, name: str) -> str | None:
    """A trajectory in the same folder, or a picture or sound in it or in a folder below."""
    is_below = all(is_name(part) for part in name.split("/"))
    is_wanted = (is_name(name) and name.endswith(".json")) or (is_below and media_type_of(name) is not None)
    return f"{folder_of(main)}/{name}" if is_wanted else None


SPEC = FormatSpec(
    name="atif",
    what="Agent Trajectory Interchange Format: Harbor, Inspect Scout, Phoenix, NeMo",
    versions="ATIF 1.0 to 1.8",
    agent=Agent("atif", "ATIF"),
    kind="document",
    layout=Layout(sessions=("*.json",), side_file=_beside),
    documents=True,
    detect=later("stenograph.formats.atif.detection", "detect"),
    identify=later("stenograph.formats.atif.detection", "identify"),
    open=later("stenograph.formats.atif.format", "AtifFormat"),
    tools=HOST_TOOLS,
    tokens=("call", "turn", "total"),
)
