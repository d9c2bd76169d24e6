"""The description of this format."""

from stenograph.fold.agent_tables import ENDS, INTERRUPTS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.layout import Home
from stenograph.formats.qwen_code.agent import AGENT
from stenograph.formats.qwen_code.layout import LAYOUT
from stenograph.formats.qwen_code.tools import TOOLS
from stenograph.formats.settings import Hooks

SPEC = FormatSpec(
    name="qwen_code",
    what="Qwen Code's session files, with their subagents",
    versions="0.15.10, 0.24.4",
    agent=AGENT,
    kind="file",
    layout=LAYOUT,
    detect=later("stenograph.formats.qwen_code.detection", "detect"),
    identify=later("stenograph.formats.qwen_code.detection", "identify"),
    open=later("stenograph.formats.qwen_code.format", "QwenCodeFormat"),
    programs=("qwen",),
    turns=Turns(
        marks={
            "cancelled": INTERRUPTS,
            "turn_result": ("state", {"completed": ENDS, "cancelled": INTERRUPTS, "error": ENDS}),
        }
    ),
    tools=TOOLS,
    hooks=Hooks(
        settings=Home(variable="QWEN_HOME", default=".qwen", folder="settings.json"),
        # Not UserPromptSubmit, which comes before every request to the model, and which it waits for.
        events=("SessionStart", "PreCompact", "Stop", "SessionEnd"),
        is_parent=True,  # SessionEnd does not come where it answers one prompt and ends
        turned_off_by="disableAllHooks",
    ),
    fork=("fork", "sessionId"),
    labels={"ui_telemetry": "Measured by Qwen Code", "cancelled": "Cancelled by the user"},
    tokens=("call",),
    sample=(
        b'{"uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","type":"user",'
        b'"cwd":"/","version":"0","message":{"role":"user","parts":[{"text":"x"}]}}\n'
    ),
)
