"""How each format tells that a turn begins, ends or is interrupted: `FormatSpec.turns`."""

from __future__ import annotations

from stenograph.fold.agent_tables import ANSWERS, ASKS, BEGINS, ENDS, INTERRUPTS, Turns

_STOPPED = ("[Request interrupted by user",)

CLAUDE_CODE = Turns(marks={"interrupted": INTERRUPTS}, interruptions=_STOPPED)
CLAUDE_STREAM = Turns(
    marks={"init": BEGINS, "result": ENDS, "interrupted": INTERRUPTS}, announced=("init",), interruptions=_STOPPED
)
CODEX_ROLLOUT = Turns(
    marks={
        "task_started": BEGINS,
        "turn_started": BEGINS,
        "task_complete": ENDS,
        "turn_complete": ENDS,
        "turn_aborted": INTERRUPTS,
    },
    announced=("task_started", "turn_started"),
)
CODEX_EXEC = Turns(
    marks={
        "turn.started": BEGINS,
        "task_started": BEGINS,
        "turn.completed": ENDS,
        "task_complete": ENDS,
        "turn_aborted": INTERRUPTS,
    },
    announced=("turn.started",),  # 0.42 tells `task_started`, and no end
)
_REQUESTS = ("item/commandExecution/requestApproval", "item/fileChange/requestApproval", "item/tool/requestUserInput")
CODEX_APP_SERVER = Turns(
    marks={
        "thread/status/changed": ("status", {"active": BEGINS, "idle": ENDS}),
        "turn/interrupt": INTERRUPTS,
        **dict.fromkeys(_REQUESTS, ASKS),
        **{f"{name}/response": ANSWERS for name in _REQUESTS},
    },
    announced=("thread/status/changed",),
)
COPILOT_CLI = Turns(
    marks={
        "abort": INTERRUPTS,
        "session.shutdown": ENDS,
        "permission.requested": ASKS,
        "permission.completed": ANSWERS,
    }
)
COPILOT_STREAM = Turns(
    marks={"assistant.turn_start": BEGINS, "assistant.idle": ENDS, "result": ENDS, "abort": INTERRUPTS},
    announced=("assistant.turn_start",),
)
GEMINI_STREAM = Turns(marks={"init": BEGINS, "result": ENDS}, announced=("init",))
OPENCODE = Turns(interrupting_errors=("MessageAbortedError",))
OPENCODE_STREAM = Turns(
    marks={"step-start": BEGINS}, announced=("step-start",), interrupting_errors=OPENCODE.interrupting_errors
)
ACP = Turns(
    marks={
        "session/prompt/response": (
            "stopReason",
            {"cancelled": INTERRUPTS} | dict.fromkeys(("end_turn", "max_tokens", "max_turn_requests", "refusal"), ENDS),
        ),
        "session/cancel": INTERRUPTS,
        "session/request_permission": ASKS,
        "session/request_permission/response": ANSWERS,
    }
)
