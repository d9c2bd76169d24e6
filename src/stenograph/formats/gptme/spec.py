"""The description of this format."""

from stenograph.fold.agent_tables import BEGINS, ENDS, Agent, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.gptme.layout import LAYOUT
from stenograph.formats.gptme.tools import TOOLS

SPEC = FormatSpec(
    name="gptme",
    what="gptme's conversations (conversation.jsonl)",
    versions="0.35.1",
    agent=Agent("gptme", "gptme", resume=("gptme", "--name", "{session}", "--resume"), begin=("gptme", "{prompt}")),
    kind="file",
    layout=LAYOUT,
    detect=later("stenograph.formats.gptme.detection", "detect"),
    identify=later("stenograph.formats.gptme.detection", "identify"),
    open=later("stenograph.formats.gptme.format", "GptmeFormat"),
    programs=("gptme",),
    turns=Turns(marks={"reminder": BEGINS, "complete": ENDS}),
    tools=TOOLS,
    tokens=("call",),
    sample=b'{"role": "system", "content": "You are gptme v0.35.1, an assistant.", '
    b'"timestamp": "2026-01-01T00:00:00.000000", "pinned": true, "hide": true}\n',
)
