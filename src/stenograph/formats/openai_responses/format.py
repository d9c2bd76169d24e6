"""openai_responses: calls to OpenAI's Responses API."""

from __future__ import annotations

from stenograph.formats.shared.model_api.format import ApiFormat


class OpenAIResponsesFormat(ApiFormat):
    """Requests, answers, stream events and single items of the Responses API."""

    name = "openai_responses"
    api = "responses"
