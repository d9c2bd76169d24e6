"""LiteLLMAdapter: evaluates prompts with LiteLLM and records everything that is said and done."""

from __future__ import annotations

import logging
from typing import Any

from stenograph.adapters.evaluations.tool_loop import Ask, Asking, Steps, adrive, check_sync, drive
from stenograph.adapters.extra import needing
from stenograph.adapters.litellm.config import LiteLLMModelConfig
from stenograph.adapters.openai.chat import ChatWording
from stenograph.adapters.outputs import Target
from stenograph.adapters.prompt import Prompt, Response, prompt_of
from stenograph.adapters.tool import tools_of
from stenograph.session import Session


class LiteLLMAdapter:
    """Evaluates prompts with any model that LiteLLM knows.

    Exceptions of LiteLLM reach the caller unchanged. Failures of the recording never do.
    """

    def __init__(
        self, model: str, *, model_config: LiteLLMModelConfig | None = None, logger: logging.Logger | None = None
    ) -> None:
        """`model` is by LiteLLM's names, such as `anthropic/claude-sonnet-4-5`."""
        self.model = model
        self.model_config = model_config or LiteLLMModelConfig()
        self._logger = logger

    def evaluate(
        self, prompt: Prompt | str, *, session: Session | None = None, recorder: Target | None = None
    ) -> Response:
        """Ask the model, run the tools that it calls, and return its answer."""
        check_sync(tools_of(prompt_of(prompt).tools))
        completion = _litellm().completion

        def ask(step: Ask) -> Any:
            answer = completion(**step.request)
            if not step.request.get("stream"):
                return answer
            step.chunks.extend(answer)
            return None

        return drive(self._steps(prompt, session, recorder), ask)

    async def aevaluate(
        self, prompt: Prompt | str, *, session: Session | None = None, recorder: Target | None = None
    ) -> Response:
        """`evaluate` in an event loop; tools that are not async run in a thread."""
        completion = _litellm().acompletion

        async def ask(step: Ask) -> Any:
            answer = await completion(**step.request)
            if not step.request.get("stream"):
                return answer
            async for chunk in answer:
                step.chunks.append(chunk)
            return None

        return await adrive(self._steps(prompt, session, recorder), ask)

    def _steps(self, prompt: Prompt | str, session: Session | None, recorder: Target | None) -> Steps:
        asking = Asking(
            adapter="litellm", model=self.model, config=self.model_config, words=ChatWording, logger=self._logger
        )
        return asking.steps(prompt, session, recorder)


def _litellm() -> Any:
    with needing("litellm"):
        import litellm
    return litellm
