"""Who speaks under role user: a person, or the harness.

Since 0.154 every part has its kind. Before that, what Codex injects is recognized by its opening words (Codex's own
list of contextual fragments); everything else is the person's. Neither needs the next line.
"""

from __future__ import annotations

from typing import Any

_OPENINGS = {
    "# AGENTS.md instructions": "user_instructions",
    "<user_instructions>": "user_instructions",
    "<environment_context>": "environment_context",
    "<turn_aborted>": "turn_aborted_notice",  # `turn_aborted` is also an event
    "<user_shell_command>": "user_shell_command",
    "<subagent_notification>": "subagent_notification",
    "<user_action>": "user_action",
    "<skill>": "skill",
    "<extension_context>": "extension_context",
    "<external_": "external_context",
    "<goal_context>": "goal_context",
    "<hook_prompt": "hook_prompt",
    "<permissions instructions>": "permissions_instructions",
    "<collaboration_mode>": "collaboration_mode",
    "<model_switch>": "model_switch",
    "<personality_spec>": "personality_spec",
    "Warning: apply_patch was requested via ": "warning",
    "Warning: The maximum number of unified exec processes": "warning",
    "Another language model started to solve this problem and produced a summary": "compaction_summary",
}
_FIRST_CHARACTERS = tuple({opening[0] for opening in _OPENINGS})


def harness_subtype(texts: list[str], passthrough: Any) -> str | None:
    """The subtype of text that the harness wrote under role user; None when a person said it."""
    openings = [_opening(text) for text in texts]
    first = next((opening for opening in openings if opening is not None), None)
    kinds = _kinds(passthrough)
    if kinds:
        if any(kind.startswith("user.") for kind in kinds):
            return None
        return first or kinds[0].rpartition(".")[2] or "context"
    return first if None not in openings else None


def _kinds(passthrough: Any) -> list[str]:
    kinds = passthrough.get("content_item_kinds") if isinstance(passthrough, dict) else None
    return [kind for kind in kinds if isinstance(kind, str) and kind != "unknown"] if isinstance(kinds, list) else []


def _opening(text: str) -> str | None:
    text = text.lstrip()
    if not text.startswith(_FIRST_CHARACTERS):
        return None
    return next((subtype for opening, subtype in _OPENINGS.items() if text.startswith(opening)), None)
