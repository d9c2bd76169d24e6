"""What Gemini CLI writes under the role of the user or the model: recognized by how it begins."""

from __future__ import annotations

_BEGINNINGS = {
    "<session_context>": "session_context",
    "This is the Gemini CLI. We are setting up the context for our chat.": "session_context",
    "<hook_context>": "hook_context",
    "<state_snapshot>": "compaction",
}
"""How texts of the harness begin, with the subtype of their system event."""
_LAST_CHANCE = "You have one final chance to complete the task with a short grace period."
"""The message to a subagent that stops without a result."""
_ANSWERS = {
    "Got it. Thanks for the additional context!",
    "Binary content received. Proceeding with analysis.",
}
"""What the harness answers itself under the model's role, to keep the turns alternating."""


def subtype_of(text: str) -> str | None:
    """The subtype of a text that no person wrote; None for a person's."""
    text = text.lstrip()
    if text.startswith(("<", "This is the Gemini CLI.")):
        for beginning, subtype in _BEGINNINGS.items():
            if text.startswith(beginning):
                return subtype
    return "last_chance" if _LAST_CHANCE in text[:300] else None


def is_synthetic(text: str) -> bool:
    """Whether the harness wrote an answer; only for answers that have no tokens."""
    return text in _ANSWERS
