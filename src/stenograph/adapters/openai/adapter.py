"""OpenAIAdapter: evaluates prompts with the OpenAI SDK and records everything that is said and done."""

from __future__ import annotations

import logging
from typing import Any

from stenograph.adapters.evaluations.tool_loop import Ask, Asking, Steps, adrive, check_sync, drive
from stenograph.adapters.extra import needing
from stenograph.adapters.openai.chat import ChatWording
from stenograph.adapters.openai.config import OpenAIModelConfig
from stenograph.adapters.openai.responses import ResponsesWording
from stenograph.adapters.outputs import Target
from stenograph.adapters.prompt import Prompt, Response, prompt_of
from stenograph.adapters.tool import tools_of
from stenograph.errors import AgentError
from stenograph.session import Session


class OpenAIAdapter:
    """Evaluates prompts with a model of OpenAI, or of a server with its API.

    Exceptions of the SDK reach the caller unchanged. Failures of the recording never do.
    """

    def __init__(
        self,
        model: str,
        *,
        model_config: OpenAIModelConfig | None = None,
        client: Any = None,
        logger: logging.Logger | None = None,
    ) -> None:
        """`client` is an `OpenAI` (for `evaluate`) or `AsyncOpenAI` (for `aevaluate`); without, each makes its own."""
        self.model = model
        self.model_config = model_config or OpenAIModelConfig()
        self._client = client
        self._logger = logger

    def evaluate(
        self, prompt: Prompt | str, *, session: Session | None = None, recorder: Target | None = None
    ) -> Response:
        """Ask the model, run the tools that it calls, and return its answer."""
        check_sync(tools_of(prompt_of(prompt).tools))
        if self._client is not None:
            return self._drive(self._given("OpenAI", is_async=False), prompt, session, recorder)
        with _sdk().OpenAI() as client:
            return self._drive(client, prompt, session, recorder)

    async def aevaluate(
        self, prompt: Prompt | str, *, session: Session | None = None, recorder: Target | None = None
    ) -> Response:
        """`evaluate` in an event loop; tools that are not async run in a thread."""
        if self._client is not None:
            return await self._adrive(self._given("AsyncOpenAI", is_async=True), prompt, session, recorder)
        async with _sdk().AsyncOpenAI() as client:
            return await self._adrive(client, prompt, session, recorder)

    def _drive(self, client: Any, prompt: Prompt | str, session: Session | None, recorder: Target | None) -> Response:
        def ask(step: Ask) -> Any:
            answer = self._create(client)(**step.request)
            if not step.request.get("stream"):
                return answer
            with answer:
                step.chunks.extend(answer)
            return None

        return drive(self._steps(prompt, session, recorder), ask)

    async def _adrive(
        self, client: Any, prompt: Prompt | str, session: Session | None, recorder: Target | None
    ) -> Response:
        async def ask(step: Ask) -> Any:
            answer = await self._create(client)(**step.request)
            if not step.request.get("stream"):
                return answer
            async with answer:
                async for chunk in answer:
                    step.chunks.append(chunk)
            return None

        return await adrive(self._steps(prompt, session, recorder), ask)

    def _steps(self, prompt: Prompt | str, session: Session | None, recorder: Target | None) -> Steps:
        config = self.model_config
        words = ChatWording if config.api == "chat" else ResponsesWording
        asking = Asking(adapter="openai", model=self.model, config=config, words=words, logger=self._logger)
        return asking.steps(prompt, session, recorder)

    def _create(self, client: Any) -> Any:
        return client.chat.completions.create if self.model_config.api == "chat" else client.responses.create

    def _given(self, kind: str, *, is_async: bool) -> Any:
        sdk = _sdk()
        if isinstance(self._client, sdk.AsyncOpenAI if is_async else sdk.OpenAI):
            return self._client
        way = "aevaluate" if is_async else "evaluate"
        raise AgentError(f"{way} needs a client of class {kind}; this one is {type(self._client).__name__}")


def _sdk() -> Any:
    with needing("openai"):
        import openai
    return openai
