"""What the three formats of replayable requests share: which part of a run a request can hold."""

from __future__ import annotations

from collections.abc import Callable

from stenograph.fold.conversation import (
    AttachmentPlace,
    ChatRules,
    OpenCalls,
    account_for_run,
    contexts,
    conversation,
    drop_part,
)
from stenograph.fold.exchange import Exchange, Turn
from stenograph.fold.losses import LossReport
from stenograph.model.block import AttachmentBlock, ThinkingBlock

OPTIONS: dict[str, tuple[str, ...]] = {"open": ("cut", "answer")}
NO_MODEL = "unknown"
"""The model of a request whose run names none."""


def replayed(
    run: Exchange,
    report: LossReport,
    *,
    open: str,
    thinking: Callable[[ThinkingBlock], str | None],
    attachments: Callable[[AttachmentBlock, AttachmentPlace], str | None],
    error_flags: bool = False,
    starts_with_user: bool = False,
) -> list[Turn]:
    """The main agent's context as its model saw it last, with every call answered.

    Leaves out subagents and everything before the last compaction.
    """
    account_for_run(run, report)
    for thread in run.subagents:
        report.drop("subagents", thread.items[0].seq if thread.items else 0)
        drop_part(thread.items, report, "of a subagent")
    *before, last = contexts(run.main)
    for part in before:
        drop_part(part, report, "before the last compaction")
    how: OpenCalls = "answer" if open == "answer" else "cut"
    rules = ChatRules(
        open_calls=how,
        thinking=thinking,
        attachments=attachments,
        error_flags=error_flags,
        starts_with_user=starts_with_user,
    )
    turns = [item for item in conversation(last, report, rules) if isinstance(item, Turn)]
    for turn in turns:
        for call in turn.calls:
            if call.kind == "server":
                report.change("calls of the provider made functions", call.seq)
    return turns
