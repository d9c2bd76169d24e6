"""The description of this format."""

from stenograph.fold.agent_tables import BEGINS, ENDS, INTERRUPTS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.codex_rollout.agent import AGENT
from stenograph.formats.codex_rollout.tools import TOOLS, VOLATILE
from stenograph.formats.codex_rollout.wording import LABELS, NOTICES

SPEC = FormatSpec(
    name="codex_exec",
    what="what `codex exec --json` prints",
    versions="0.42.0, 0.63.0, 0.98.0, 0.120.0, 0.144.0, 0.154.0, 0.166.0",
    agent=AGENT,
    kind="stream",
    detect=later("stenograph.formats.codex_exec.detection", "detect"),
    identify=later("stenograph.formats.codex_exec.detection", "identify"),
    open=later("stenograph.formats.codex_exec.format", "CodexExecFormat"),
    turns=Turns(
        marks={
            "turn.started": BEGINS,
            "task_started": BEGINS,
            "turn.completed": ENDS,
            "task_complete": ENDS,
            "turn_aborted": INTERRUPTS,
        },
        announced=("turn.started",),  # 0.42 writes `task_started`, and no end
    ),
    tools=TOOLS,
    labels=LABELS,
    notices=NOTICES,
    volatile=VOLATILE,
    tokens=("call", "turn", "total"),
    sample=b'{"type":"thread.started","thread_id":"t"}\n{"type":"turn.started"}\n',
)
