"""LiteLLM, live: an adapter that evaluates prompts, and a callback for programs with their own loop.

Importing this does not import LiteLLM. `StenographLogger` subclasses a class of LiteLLM, so using that name does.
"""

from typing import TYPE_CHECKING, Any

from stenograph.adapters.extra import needing
from stenograph.adapters.litellm.adapter import LiteLLMAdapter
from stenograph.adapters.litellm.config import LiteLLMModelConfig

if TYPE_CHECKING:
    from stenograph.adapters.litellm.logger import StenographLogger

__all__ = ["LiteLLMAdapter", "LiteLLMModelConfig", "StenographLogger"]


def __getattr__(name: str) -> Any:
    if name != "StenographLogger":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with needing("litellm"):
        from stenograph.adapters.litellm.logger import StenographLogger
    return StenographLogger
