"""The description of this format."""

from stenograph.formats.base import FormatSpec, later
from stenograph.formats.continue_session.agent import AGENT
from stenograph.formats.continue_session.layout import LAYOUT
from stenograph.formats.continue_session.tools import TOOLS

SPEC = FormatSpec(
    name="continue_session",
    what="sessions of Continue, in the terminal and in editors",
    versions="cn 1.5.47",
    agent=AGENT,
    kind="document",
    layout=LAYOUT,
    documents=True,
    detect=later("stenograph.formats.continue_session.detection", "detect"),
    identify=later("stenograph.formats.continue_session.detection", "identify"),
    open=later("stenograph.formats.continue_session.format", "ContinueFormat"),
    programs=("cn",),
    tools=TOOLS,
    tokens=("call",),
    sample=b'{"sessionId":"s","title":"t","workspaceDirectory":"/","history":[]}\n',
)
