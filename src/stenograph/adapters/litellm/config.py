"""LiteLLMModelConfig: how a model is asked."""

from __future__ import annotations

from dataclasses import dataclass

from stenograph.adapters.evaluations.model_config import ModelConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteLLMModelConfig(ModelConfig):
    """How a model is asked. `parameters` are arguments of `litellm.completion`, `api_base` and `api_key` among them."""
