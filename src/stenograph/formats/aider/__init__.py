"""aider: the Markdown that Aider keeps of its chats (`.aider.chat.history.md`)."""

from stenograph.formats.aider.spec import SPEC

__all__ = ["SPEC"]
