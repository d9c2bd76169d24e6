"""The description of this format."""

from stenograph.fold.agent_tables import ANSWERS, ASKS, BEGINS, ENDS, INTERRUPTS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.codex_rollout.agent import AGENT
from stenograph.formats.codex_rollout.tools import TOOLS, VOLATILE
from stenograph.formats.codex_rollout.wording import LABELS, NOTICES

_REQUESTS = ("item/commandExecution/requestApproval", "item/fileChange/requestApproval", "item/tool/requestUserInput")

SPEC = FormatSpec(
    name="codex_app_server",
    what="the stdio protocol of `codex app-server`, one direction or both",
    versions="Codex 0.63, 0.98, 0.120, 0.144, 0.166",
    agent=AGENT,
    kind="stream",
    detect=later("stenograph.formats.codex_app_server.detection", "detect"),
    identify=later("stenograph.formats.codex_app_server.detection", "identify"),
    open=later("stenograph.formats.codex_app_server.parser", "CodexAppServerFormat"),
    turns=Turns(
        marks={
            "thread/status/changed": ("status", {"active": BEGINS, "idle": ENDS}),
            "turn/interrupt": INTERRUPTS,
            **dict.fromkeys(_REQUESTS, ASKS),
            **{f"{name}/response": ANSWERS for name in _REQUESTS},
        },
        announced=("thread/status/changed",),
    ),
    tools=TOOLS,
    labels=LABELS,
    notices=NOTICES,
    volatile=VOLATILE,
    tokens=("call", "total"),
    sample=b'{"method":"thread/started","params":{"thread":{"id":"t"}}}\n',
)
