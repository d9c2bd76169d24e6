"""The description of this format."""

from stenograph.fold.agent_tables import BEGINS, ENDS, INTERRUPTS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.codex_rollout.agent import AGENT
from stenograph.formats.codex_rollout.layout import LAYOUT
from stenograph.formats.codex_rollout.tools import TOOLS, VOLATILE
from stenograph.formats.codex_rollout.wording import LABELS, NOTICES
from stenograph.formats.layout import Home
from stenograph.formats.settings import Hooks, McpSettings, Notify

_CONFIG = Home(variable="CODEX_HOME", default=".codex", folder="config.toml")

SPEC = FormatSpec(
    name="codex_rollout",
    what="Codex CLI's threads on disk",
    versions="0.42.0, 0.63.0, 0.98.0, 0.120.0, 0.144.0, 0.154.0, 0.166.0",
    agent=AGENT,
    kind="file",
    layout=LAYOUT,
    detect=later("stenograph.formats.codex_rollout.identity", "detect"),
    identify=later("stenograph.formats.codex_rollout.identity", "identify"),
    open=later("stenograph.formats.codex_rollout.format", "CodexRolloutFormat"),
    programs=("codex",),
    turns=Turns(
        marks={
            "task_started": BEGINS,
            "turn_started": BEGINS,
            "task_complete": ENDS,
            "turn_complete": ENDS,
            "turn_aborted": INTERRUPTS,
        },
        announced=("task_started", "turn_started"),
    ),
    tools=TOOLS,
    labels=LABELS,
    notices=NOTICES,
    fork=("session_meta", "forked_from_id"),
    hooks=Hooks(
        settings=Home(variable="CODEX_HOME", default=".codex", folder="hooks.json"),
        events=("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"),
        is_parent=True,
        note="Codex runs new hooks only after you trust them once: start Codex and confirm, or type /hooks. "
        "Until then Stenograph is called only at the end of each turn",
    ),
    notify=Notify(settings=_CONFIG, session="thread-id"),
    mcp=McpSettings(settings=_CONFIG, syntax="toml"),
    tokens=("call", "total"),
    sample=b'{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"t","cwd":"/"}}\n',
    volatile=VOLATILE,
)
