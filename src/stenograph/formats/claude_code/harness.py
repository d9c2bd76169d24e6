"""What the harness writes under the role of the user, as opposed to what a person says.

Claude Code writes texts of its own as user messages: notifications, reminders, the output of slash commands, the mark
of an interruption. Newer versions flag them; in older ones, and in texts that mix both, they are recognized by tags and
first words.
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
"""The harness's tags, and the subtype of each."""

_AROUND_FOREIGN_TEXT = {
    "task-notification",
    "local-command-stdout",
    "local-command-stderr",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
}
"""Tags around text that may itself hold the closing tag: they reach to the last one."""
_OPENING = re.compile(rf"\s*<({'|'.join(_SUBTYPES)})>")

_FIRST_WORDS = (
    ("[Request interrupted by user", "interrupted"),
    ("This session is being continued from a previous conversation", "compaction"),
    ("Caveat: The messages below were generated", "local_command_caveat"),
)
"""First words of texts of the harness that are not flagged."""

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
"""First words of texts in lines that are flagged as the harness's."""

_ORIGINS = {"task-notification": "task_notification", "coordinator": "coordinator_message"}


def subtype_of_origin(origin: Any) -> str | None:
    """The subtype by a line's `origin`; None when a person or program spoke, or there is no origin."""
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return _ORIGINS.get(kind) if isinstance(kind, str) else None


def subtype_of_text(text: str) -> str | None:
    """The subtype of a harness text; None when it holds anything that a person said."""
    if text[:1] not in _STARTS and not text[:1].isspace():
        return None
    for words, subtype in _FIRST_WORDS:
        if text.startswith(words):
            return subtype
    return _subtype_of_tags(text)


def _subtype_of_tags(text: str) -> str | None:
    """The subtype of the first tag, when the text holds nothing but tags; an unclosed tag reaches to the end."""
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
    """The subtype of a text in a line that is flagged as the harness's; `meta` when it is not known."""
    for words, subtype in _META_WORDS:
        if text.startswith(words):
            return subtype
    if (opening := _OPENING.match(text)) is not None:
        return _SUBTYPES[opening.group(1)]
    return subtype_of_text(text) or "meta"
