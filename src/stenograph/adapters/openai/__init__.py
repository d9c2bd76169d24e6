"""OpenAI, live: an adapter that evaluates prompts, and `capture_openai` for programs with their own loop.

Importing this does not import the SDK; using it does, and raises `MissingExtra` if it is not installed.
"""

from stenograph.adapters.openai.adapter import OpenAIAdapter
from stenograph.adapters.openai.capturing import capture_openai
from stenograph.adapters.openai.config import OpenAIModelConfig

__all__ = ["OpenAIAdapter", "OpenAIModelConfig", "capture_openai"]
