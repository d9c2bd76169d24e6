"""The description of this format."""

from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.layout import Layout
from stenograph.formats.shared.host_tools import HOST_TOOLS

SPEC = FormatSpec(
    name="scout",
    what="transcripts of Inspect Scout (Parquet), one run for each",
    versions="inspect_scout 0.6.1",
    agent=Agent("scout", "Inspect Scout"),
    kind="document",
    layout=Layout(sessions=("*.parquet",), runs=later("stenograph.formats.scout.detection", "transcripts_in")),
    documents=True,
    detect=later("stenograph.formats.scout.detection", "detect"),
    identify=later("stenograph.formats.scout.detection", "identify"),
    open=later("stenograph.formats.scout.format", "ScoutFormat"),
    tools=HOST_TOOLS,
    tokens=("call", "total"),
)
