"""Texts of an agent's harness that arrive as if the model had said them; the protocol has no message for them."""

from __future__ import annotations

import re
from typing import Any

from stenograph.model.payload import ErrorPayload, SystemPayload

_NOTES = {
    "gemini-cli": re.compile(r"\[(?P<kind>MODE_UPDATE)\] (?P<text>\w+)"),
    "Copilot": re.compile(r"(?P<kind>Info|Warning|Error): (?P<text>.+)", re.DOTALL),
}
"""How each agent writes them, each as one chunk."""


def harness_text(agent: str | None, content: Any) -> SystemPayload | ErrorPayload | None:
    """The harness text that a chunk is; None when it is the model's own words."""
    text = content.get("text") if isinstance(content, dict) else None
    pattern = _NOTES.get(agent or "")
    found = pattern.fullmatch(text) if pattern is not None and isinstance(text, str) else None
    if found is None:
        return None
    if found["kind"] == "Error":
        return ErrorPayload(message=found["text"])
    return SystemPayload(subtype=found["kind"].lower(), text=found["text"])
