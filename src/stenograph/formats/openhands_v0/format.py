"""Actions and observations as events.

Theory of operation. An action of the agent that came from a model's answer holds that whole answer
(`tool_call_metadata.model_response`): the answer is emitted with the first of its actions, and the others are notes. An
action without one is a call, with its number as the id, which its observation names as the `cause`.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.base import Context
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.importing import ImportFormat
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str
from stenograph.formats.shared.model_api.chat import thoughts_of
from stenograph.formats.shared.model_api.parts import blocks_of, text_block
from stenograph.formats.shared.model_api.usage import openai_usage
from stenograph.formats.shared.usage import UsageFields
from stenograph.model.block import Block

_SO_FAR = UsageFields(
    input=("accumulated_token_usage.prompt_tokens",),
    output=("accumulated_token_usage.completion_tokens",),
    cache_read=("accumulated_token_usage.cache_read_tokens",),
    cache_write=("accumulated_token_usage.cache_write_tokens",),
    cost=("accumulated_cost",),
)
_NO_TOOLS = ("message", "system", "recall", "change_agent_state", "condensation", "null", "start")
"""Actions that are not calls of a tool."""


class OpenHandsV0Format(ImportFormat):
    """One trajectory: a list of records, or one record per line."""

    name = "openhands_v0"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._answers: set[str] = set()
        """Answers of the model that were emitted."""
        self._called: set[str] = set()
        """Calls that were emitted."""

    def _record(self, record: dict[str, Any]) -> None:
        self._place(record.get("timestamp"))
        action, observation = record.get("action"), record.get("observation")
        if isinstance(action, str):
            self._action(record, action)
        elif isinstance(observation, str):
            self._observation(record, observation)
        else:
            return
        metrics = a_dict(record.get("llm_metrics"))
        self._usage(_SO_FAR.read(metrics, scope="total"))

    # Actions.

    def _action(self, record: dict[str, Any], action: str) -> None:
        args, source = a_dict(record.get("args")), record.get("source")
        metadata = a_dict(record.get("tool_call_metadata"))
        response = a_dict(metadata.get("model_response"))
        if response and a_str(response.get("id")) in self._answers:
            self._note("action", a_str(record.get("message")) or action, {"action": action})
        elif response:
            self._response(response)
        elif action == "message" and source == "user":
            images = [{"type": "image_url", "image_url": {"url": url}} for url in a_list(args.get("image_urls"))]
            self._user([*blocks_of(args.get("content") or record.get("message")), *blocks_of(images)])
        elif action == "message":
            self._answer(blocks_of(args.get("content") or record.get("message")))
        elif action == "system":
            self._system_prompt(a_str(args.get("content")))
            self._define(args.get("tools"))
        elif action == "condensation":
            self._note("compaction", first_str(args, "summary"), args)
        elif source == "agent" and action not in _NO_TOOLS:
            self._bare_call(record, action, args)
        else:
            self._note(action, first_str(args, "agent_state", "query") or a_str(record.get("message")), args)

    def _response(self, response: dict[str, Any]) -> None:
        """An answer of the model."""
        answer_id = a_str(response.get("id"))
        self._answers |= {answer_id} if answer_id else set()
        choice = (dicts(response.get("choices")) or [{}])[0]
        message = a_dict(choice.get("message"))
        blocks: list[Block] = [*thoughts_of(message), *blocks_of(message.get("content"))]
        for call in dicts(message.get("tool_calls")):
            function = a_dict(call.get("function"))
            block = self._use(call.get("id"), a_str(function.get("name")), arguments_of(function.get("arguments")))
            self._called.add(block.tool_id)
            blocks.append(block)
        model = first_str(response, "model")
        message_id = answer_id or None
        self._answer(blocks, model=model, message_id=message_id, stop_reason=first_str(choice, "finish_reason"))
        self._usage(openai_usage(response.get("usage"), model, message_id))

    def _bare_call(self, record: dict[str, Any], action: str, args: dict[str, Any]) -> None:
        """An action of an agent that writes its calls as text: the text, and the call by the record's number."""
        thought = a_str(args.get("thought"))
        tool_input = {name: value for name, value in args.items() if name != "thought"}
        call = self._use(str(record.get("id", "")), action, tool_input)
        self._called.add(call.tool_id)
        self._answer([*([text_block(thought)] if thought else []), call])

    # Observations.

    def _observation(self, record: dict[str, Any], observation: str) -> None:
        metadata = a_dict(record.get("tool_call_metadata"))
        cause = record.get("cause")
        call_id = first_str(metadata, "tool_call_id") or ("" if cause is None else str(cause))
        content, extras = record.get("content"), a_dict(record.get("extras"))
        failed = observation == "error"
        if call_id in self._called:
            self._result(call_id, content, name=a_str(metadata.get("function_name")), failed=failed)
        elif failed:
            self._error(a_str(content) or a_str(record.get("message")), first_str(extras, "error_id"), extras or None)
        else:
            text = a_str(content) or first_str(extras, "agent_state") or a_str(record.get("message"))
            self._note(observation, text, extras or None)
