"""OpenAIModelConfig: how a model is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from stenograph.adapters.evaluations.model_config import ModelConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIModelConfig(ModelConfig):
    """How a model of OpenAI, or of a server with its API, is called. `parameters` have the names of the API."""

    api: Literal["chat", "responses"] = "chat"

    def _of_the_api(self) -> dict[str, Any]:
        if self.api == "responses":
            return {"max_output_tokens": self.max_tokens, **({"stream": True} if self.stream else {})}
        parameters = ModelConfig._of_the_api(self)
        return {"max_completion_tokens": parameters.pop("max_tokens"), **parameters}
