"""openai_chat: Chat Completions as OpenAI, LiteLLM and compatible servers speak it, and datasets of chats."""

from __future__ import annotations

from stenograph.formats.shared.model_api.format import ApiFormat


class OpenAIChatFormat(ApiFormat):
    """Requests, answers and chunks of Chat Completions; `{"messages": […]}` lines; one message per line."""

    name = "openai_chat"
    api = "chat"
