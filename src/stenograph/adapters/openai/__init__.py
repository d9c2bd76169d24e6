"""OpenAI, live: an adapter that evaluates prompts, and `capture_openai` for those who have a loop of their own.

Importing this does not import the SDK; using it does, and says so when it is not installed.
"""

from stenograph.adapters.openai.adapter import OpenAIAdapter
from stenograph.adapters.openai.capturing import capture_openai
from stenograph.adapters.openai.config import OpenAIModelConfig

__all__ = ["OpenAIAdapter", "OpenAIModelConfig", "capture_openai"]
