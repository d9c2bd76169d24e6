"""What the harness says under the role of the user, told apart from what a person says.

Claude Code writes texts of its own as user messages: notifications, reminders, the output of slash commands, the mark
of an interruption. Newer versions flag them; older ones, and texts that mix both, are told by tags and first words.
"""

from __future__ import annotations

import re
from typing import Any

_SUBTYPES = {
    "task-notification": "task_notification",
    "command-name": "command",
    "command-message": "command",
    "command-args": "command",
    "command-contents": "command",
    "local-command-stdout": "local_command_output",
    "local-command-stderr": "local_command_output",
    "local-command-caveat": "local_command_caveat",
    "bash-input": "bash_input",
    "bash-stdout": "bash_output",
    "bash-stderr": "bash_output",
    "system-reminder": "system_reminder",
    "user-prompt-submit-hook": "hook_output",
    "ide_opened_file": "ide_context",
    "ide_selection": "ide_context",
    "ide_diagnostics": "ide_context",
    "environment_context": "environment_context",
}
"""The harness's tags, and what an event of each is called."""

_AROUND_FOREIGN_TEXT = {
    "task-notification",
    "local-command-stdout",
    "local-command-stderr",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
}
"""Tags around text that may hold a closing tag of its own: they reach to the last one."""
_OPENING = re.compile(rf"\s*<({'|'.join(_SUBTYPES)})>")

_FIRST_WORDS = (
    ("[Request interrupted by user", "interrupted"),
    ("This session is being continued from a previous conversation", "compaction"),
    ("Caveat: The messages below were generated", "local_command_caveat"),
)
"""Texts that are the harness's although nothing flags them."""

_META_WORDS = (
    ("Output token limit hit.", "max_tokens"),
    ("Your response above was cut off", "cut_off"),
    ("Your response above was stopped by a safety classifier", "refusal"),
    ("[Your previous response had no visible output", "empty_response"),
    ("Continue from where you left off.", "resume"),
    ("Base directory for this skill:", "skill"),
    ("Stop hook feedback", "hook_feedback"),
    ("The coordinator sent a message", "coordinator_message"),
)
"""Texts of lines that are flagged as the harness's."""

_ORIGINS = {"task-notification": "task_notification", "coordinator": "coordinator_message"}


def subtype_of_origin(origin: Any) -> str | None:
    """What a line is by the `origin` it gives; None when a person or program spoke, or none is given."""
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return _ORIGINS.get(kind) if isinstance(kind, str) else None


def subtype_of_text(text: str) -> str | None:
    """What a harness text is called; None when it holds anything that a person said."""
    if text[:1] not in _STARTS and not text[:1].isspace():
        return None
    for words, subtype in _FIRST_WORDS:
        if text.startswith(words):
            return subtype
    return _subtype_of_tags(text)


def _subtype_of_tags(text: str) -> str | None:
    """The subtype of the first tag, when the text is nothing but tags; a tag that never closes reaches to the end."""
    first = opening = _OPENING.match(text)
    end = 0
    while opening is not None:
        tag = opening.group(1)
        closing = f"</{tag}>"
        find = text.rfind if tag in _AROUND_FOREIGN_TEXT else text.find
        start = find(closing, opening.end())
        end = len(text) if start < 0 else start + len(closing)
        opening = _OPENING.match(text, end)
    return _SUBTYPES[first.group(1)] if first is not None and not text[end:].strip() else None


_STARTS = {"<", *(words[0] for words, _ in _FIRST_WORDS)}


def subtype_of_meta(text: str) -> str:
    """What the text of a line that is flagged as the harness's is called; `meta` when we have no better name."""
    for words, subtype in _META_WORDS:
        if text.startswith(words):
            return subtype
    if (opening := _OPENING.match(text)) is not None:
        return _SUBTYPES[opening.group(1)]
    return subtype_of_text(text) or "meta"
