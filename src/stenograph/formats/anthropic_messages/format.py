"""anthropic_messages: calls to Anthropic's Messages API."""

from __future__ import annotations

from stenograph.formats.shared.model_api.format import ApiFormat


class AnthropicMessagesFormat(ApiFormat):
    """Requests, answers, stream events and single messages of the Messages API."""

    name = "anthropic_messages"
    api = "messages"
