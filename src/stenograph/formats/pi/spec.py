"""The description of this format."""

from stenograph.fold.agent_tables import Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.layout import Home
from stenograph.formats.pi.agent import AGENT
from stenograph.formats.pi.layout import LAYOUT
from stenograph.formats.pi.tools import TOOLS
from stenograph.formats.settings import Plugin
from stenograph.formats.shared.plugin_text import EXTENSION

SPEC = FormatSpec(
    name="pi",
    what="pi's session files, and those of its forks oh-my-pi and Prime and of older OpenClaw",
    versions="0.87.1",
    agent=AGENT,
    kind="file",
    layout=LAYOUT,
    detect=later("stenograph.formats.pi.detection", "detect"),
    identify=later("stenograph.formats.pi.detection", "identify"),
    open=later("stenograph.formats.pi.format", "PiFormat"),
    programs=("pi", "omp"),
    turns=Turns(interrupting_errors=("aborted",)),
    tools=TOOLS,
    plugin=Plugin(
        file=Home(variable="PI_CODING_AGENT_DIR", default=".pi/agent", folder="extensions/stenograph.ts"),
        text=EXTENSION,
    ),
    fork=("session", "forked_from"),
    labels={"context_edit": "Context edited", "branch": "Another branch"},
    tokens=("call",),
    sample=(
        b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}\n'
        b'{"type":"model_change","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","modelId":"m"}\n'
    ),
)
