"""What Cline writes around the user's text, and its own records that look like messages."""

from __future__ import annotations

import re
from typing import Any

from stenograph.formats.shared.loose import a_dict, a_str

_PROMPT = re.compile(r"\A\s*<user_input mode=\"(\w+)\">(.*)</user_input>\s*\Z", re.DOTALL)
_HARNESS = "[SYSTEM] "
_NOTICE = "<SYSTEM_NOTICE>"
COMPACTION = "compaction"


def prompt_in(text: str) -> tuple[str, str | None]:
    """What the user typed, and the mode in which Cline was, if the text says it."""
    found = _PROMPT.match(text)
    return (text, None) if found is None else (found[2], found[1])


def notice_in(part: Any) -> str | None:
    """The text of a part that Cline added to a message of the user; None for any other part."""
    text = a_str(a_dict(part).get("text"))
    return text if text.startswith(_NOTICE) else None


def subtype_of(message: dict[str, Any], text: str) -> str | None:
    """The subtype of a message that Cline itself wrote; None for one of the user or the model."""
    metadata = a_dict(message.get("metadata"))
    if metadata.get("kind") == "compaction_summary":
        return COMPACTION
    if metadata.get("displayOnly") is True:
        return a_str(metadata.get("displayRole")) or "notice"
    if message.get("role") == "user" and (text.startswith(_HARNESS) or "userRunSpan" in metadata):
        return "harness"
    return None


def is_compaction(message: Any) -> bool:
    """Whether a message is the summary of the messages before it."""
    return a_str(a_dict(a_dict(message).get("metadata")).get("kind")).startswith(COMPACTION)
