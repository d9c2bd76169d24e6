"""openai_responses: calls to OpenAI's Responses API."""

from stenograph.formats.openai_responses.spec import SPEC

__all__ = ["SPEC"]
