"""openai_chat: Chat Completions as OpenAI, LiteLLM and compatible servers speak it, and datasets of chats."""

from stenograph.formats.openai_chat.spec import SPEC

__all__ = ["SPEC"]
