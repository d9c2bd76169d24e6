"""The description of this format."""

from stenograph.fold.agent_tables import ENDS, Agent, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.cursor.tools import TOOLS
from stenograph.formats.layout import Home, Layout

SPEC = FormatSpec(
    name="cursor",
    what="transcripts of Cursor's agent, with their subagents",
    versions="files of 2026-07 to 2026-11",
    agent=Agent("cursor", "Cursor"),
    kind="file",
    layout=Layout(
        homes=(Home(default=".cursor", folder="projects"),),
        sessions=(
            "{project}/agent-transcripts/{session}/{session}.jsonl",
            "{project}/agent-transcripts/{session}.jsonl",
        ),
        members=("subagents/{agent}.jsonl",),
    ),
    detect=later("stenograph.formats.cursor.detection", "detect"),
    identify=later("stenograph.formats.cursor.detection", "identify"),
    open=later("stenograph.formats.cursor.format", "CursorFormat"),
    turns=Turns(marks={"turn_ended": ENDS}),
    tools=TOOLS,
)
