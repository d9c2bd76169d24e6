"""anthropic_messages: calls to Anthropic's Messages API."""

from stenograph.formats.anthropic_messages.spec import SPEC

__all__ = ["SPEC"]
