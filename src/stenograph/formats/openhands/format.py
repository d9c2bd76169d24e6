"""Events of a conversation, its state, and the tokens of its model calls, as our events.

Theory of operation. One answer of the model is one event, or one for each of its calls: these share the id of the
answer, and only the first has its text. The tokens of an answer are in the state, under the same id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stenograph.formats.openhands.detection import is_event, is_state, is_usage
from stenograph.formats.openhands.layout import usages_of
from stenograph.formats.openhands.times import utc_of
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str
from stenograph.formats.shared.message_format import MessageFormat, use_of
from stenograph.formats.shared.model_api.parts import block_of, plain_text, thinking_block, thought_block
from stenograph.formats.shared.usage import UsageFields
from stenograph.model.block import Block

_USAGE = UsageFields(
    input=("prompt_tokens",),
    output=("completion_tokens",),
    cache_read=("cache_read_tokens",),
    cache_write=("cache_write_tokens",),
    reasoning=("reasoning_tokens",),
)


class OpenHandsFormat(MessageFormat):
    """One conversation."""

    name = "openhands"

    def _map(self, record: Any) -> None:
        if is_state(record):
            self._state(record)
        elif is_event(record):
            self._event(record)
        elif is_usage(record):
            self._place()
            self._take(record)

    def _state(self, state: dict[str, Any]) -> None:
        """Emit the state of the conversation; the file itself also holds the tokens of each answer."""
        self._place(utc_of(state.get("began")) if "conversation" not in self._facts else None)
        llm = a_dict(a_dict(state.get("agent")).get("llm"))
        facts = {
            "status": state.get("execution_status"),
            "id": state.get("id"),
            "model": llm.get("model"),
            "working_dir": a_dict(state.get("workspace")).get("working_dir"),
            "confirmation_policy": a_dict(state.get("confirmation_policy")).get("kind"),
            "title": state.get("title"),
        }
        known = {name: value for name, value in facts.items() if value is not None}
        self._emit_changes("conversation", known, a_str(state.get("execution_status")))
        for usage in usages_of(state):
            self._take(usage)

    def _take(self, usage: dict[str, Any]) -> None:
        """Emit the tokens of one model call."""
        response_id = a_str(usage.get("response_id"))
        if self._is_first("usage", response_id):
            self._usage(_USAGE.read(usage, model=first_str(usage, "model"), message_id=response_id or None))
        else:
            self._note("repeated", data={"what": "usage", "response_id": response_id})

    def _event(self, event: dict[str, Any]) -> None:
        self._place(utc_of(event["timestamp"]))
        if not self._is_first("event", event["id"]):
            self._note("repeated", data={"event_id": event["id"]})
            return
        handle = _KINDS.get(event["kind"])
        if handle is None:
            self._unknown(event, event["kind"])
        else:
            handle(self, event)

    # What is said.

    def _system_prompt(self, event: dict[str, Any]) -> None:
        texts = [plain_text([event.get(name)]) for name in ("system_prompt", "dynamic_context")]
        self._note("system_prompt", "\n\n".join(text for text in texts if text))
        self._define([{**tool, "name": first_str(tool, "name", "title")} for tool in dicts(event.get("tools"))])

    def _message(self, event: dict[str, Any]) -> None:
        message = a_dict(event.get("llm_message"))
        said = _blocks(message.get("content"))
        if event["source"] == "user":
            self._user(said, event["id"])
        elif event["source"] == "agent":
            self._answer([*_thoughts(message), *said], model=self._model(), message_id=_answer_id(event))
        else:
            self._note("message", plain_text(message.get("content")))
        if more := plain_text(event.get("extended_content")):
            self._note("extended_content", more)

    def _action(self, event: dict[str, Any]) -> None:
        call = a_dict(event.get("tool_call"))
        name = first_str(event, "tool_name") or a_str(call.get("name"))
        arguments = arguments_of(call["arguments"]) if "arguments" in call else event.get("action")
        use = use_of(first_str(event, "tool_call_id") or a_str(call.get("id")) or event["id"], name, arguments)
        said = [*_thoughts(event), *_blocks(event.get("thought")), use]
        self._answer(said, model=self._model(), message_id=_answer_id(event))

    def _model(self) -> str | None:
        """The model of the conversation, by its state."""
        return first_str(self._facts.get("conversation", {}), "model")

    # Results.

    def _observation(self, event: dict[str, Any]) -> None:
        observation = a_dict(event.get("observation"))
        content: Any = _parts(observation.get("content"))
        error = (plain_text(content) or "failed") if observation.get("is_error") is True else None
        code = observation.get("exit_code")
        if isinstance(code, int) and code != 0 and error is None:
            content = {"output": plain_text(content), "exit_code": code}  # the text of a result does not have it
        self._result(_call_id(event), content, name=a_str(event.get("tool_name")), error=error)

    def _refused(self, event: dict[str, Any]) -> None:
        """A call without an observation: the agent could not make it, or the user refused it."""
        words = first_str(event, "error", "rejection_reason") or "failed"
        self._result(_call_id(event), words, name=a_str(event.get("tool_name")), error=words)

    def _failure(self, event: dict[str, Any]) -> None:
        self._error(a_str(event.get("detail")), first_str(event, "code"))

    def _condensation(self, event: dict[str, Any]) -> None:
        forgotten = len(a_list(event.get("forgotten_event_ids")))
        self._note("compaction", first_str(event, "summary"), {"part": "summary", "forgotten": forgotten})

    def _other(self, event: dict[str, Any]) -> None:
        """Neither a message nor a tool event: a pause, a request, a change of the state."""
        envelope = ("id", "timestamp", "source", "kind")
        data = {name: value for name, value in event.items() if name not in envelope and value is not None}
        self._note(event["kind"], None, data or None)


_KINDS: Mapping[str, Callable[[OpenHandsFormat, dict[str, Any]], None]] = {
    "SystemPromptEvent": OpenHandsFormat._system_prompt,
    "MessageEvent": OpenHandsFormat._message,
    "ActionEvent": OpenHandsFormat._action,
    "ObservationEvent": OpenHandsFormat._observation,
    "AgentErrorEvent": OpenHandsFormat._refused,
    "UserRejectObservation": OpenHandsFormat._refused,
    "ConversationErrorEvent": OpenHandsFormat._failure,
    "Condensation": OpenHandsFormat._condensation,
    "CondensationRequest": OpenHandsFormat._other,
    "CondensationSummaryEvent": OpenHandsFormat._other,
    "ConversationStateUpdateEvent": OpenHandsFormat._other,
    "HookExecutionEvent": OpenHandsFormat._other,
    "LLMCompletionLogEvent": OpenHandsFormat._other,
    "PauseEvent": OpenHandsFormat._other,
    "TokenEvent": OpenHandsFormat._other,
}


def _answer_id(event: dict[str, Any]) -> str:
    return first_str(event, "llm_response_id") or a_str(event["id"])


def _call_id(event: dict[str, Any]) -> str:
    return first_str(event, "tool_call_id", "action_id") or a_str(event["id"])


def _thoughts(said: dict[str, Any]) -> list[Block]:
    """The model's thinking: as its provider writes it, else as the SDK does."""
    blocks = [block for part in dicts(said.get("thinking_blocks")) if (block := thought_block(part)) is not None]
    words = a_str(said.get("reasoning_content"))
    return [*blocks] if blocks or not words else [thinking_block(words)]


def _blocks(content: Any) -> list[Block]:
    found = (block_of(part) for part in _parts(content))
    return [block for block in found if block is not None]


def _parts(content: Any) -> list[Any]:
    """The parts of a content; one with several pictures is a part for each."""
    parts: list[Any] = []
    for part in a_list(content):
        urls = a_list(a_dict(part).get("image_urls"))
        parts += [{"type": "image_url", "image_url": {"url": url}} for url in urls] or [part]
    return parts
