"""A call of a model, from its span and its log records, in any of the vocabularies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from stenograph.formats.otlp import flat, genai
from stenograph.formats.otlp.genai import GenAiMessage, parsed
from stenograph.formats.otlp.kind import DETAILS
from stenograph.formats.otlp.span import LogRecord, Span
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, dollars, first_str, tokens
from stenograph.model.payload import UsagePayload

_MODEL = (
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "llm.response.model",
    "llm.request.model",
)
_INPUT = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
)
_OUTPUT = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
)
_CACHE_READ = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.details.cache_read_tokens",
    "gen_ai.usage.details.cached_tokens",
    "llm.token_count.prompt_details.cache_read",
)
_CACHE_WRITE = (
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.details.cache_write_tokens",
    "llm.token_count.prompt_details.cache_write",
)
_REASONING = (
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.details.reasoning_tokens",
    "llm.token_count.completion_details.reasoning",
)
_COST = ("operation.cost", "gen_ai.usage.cost", "llm.cost.total")
_SMOLAGENTS_CALLS = "tool-call"


class ModelCall(Struct, frozen=True, kw_only=True):
    """A model's input and its answer. Messages are those of Chat Completions."""

    messages: list[GenAiMessage]
    choices: list[dict[str, Any]]
    tools: Any
    model: str | None
    id: str
    """The id of the answer, else that of the span."""
    usage: UsagePayload | None


def model_call(span: Span, logs: Sequence[LogRecord] = ()) -> ModelCall:
    """The model call in a span and its log records."""
    facts = span.attributes
    for log in logs:
        if log.name == DETAILS:
            facts = {**log.attributes, **facts}
    messages, choices, tools = _said(facts, span, logs)
    model = first_str(facts, *_MODEL)
    answer_id = first_str(facts, "gen_ai.response.id") or span.span_id
    stop = first_str(facts, "llm.finish_reason") or next(
        (a_str(each) for each in a_list(parsed(facts.get("gen_ai.response.finish_reasons")))), None
    )
    choices = [{**choice, "finish_reason": first_str(choice, "finish_reason") or stop} for choice in choices]
    if not choices and span.failure is None:
        choices = [{"message": {}, "finish_reason": stop}]
    usage = _usage(facts, model, answer_id)
    return ModelCall(messages=messages, choices=choices, tools=tools, model=model, id=answer_id, usage=usage)


def has_content(span: Span, logs: Sequence[LogRecord] = ()) -> bool:
    """Whether a model call has its messages."""
    call = model_call(span, logs)
    return bool(call.messages) or any(choice.get("message") for choice in call.choices)


def _said(facts: dict[str, Any], span: Span, logs: Sequence[LogRecord]) -> tuple[list[GenAiMessage], list[Any], Any]:
    if "gen_ai.input.messages" in facts or "gen_ai.output.messages" in facts:
        messages = genai.messages_of(facts.get("gen_ai.input.messages"))
        prompt = genai.instructions_of(facts.get("gen_ai.system_instructions"))
        return [*prompt, *messages], genai.choices_of(facts.get("gen_ai.output.messages")), genai.definitions_in(facts)
    sections = flat.sections_of(facts)
    if flat.INPUT in sections or flat.OUTPUT in sections:
        messages = [_plain_role(message) for message in flat.messages_of(sections.get(flat.INPUT, []))]
        answer = _answer(flat.joined(sections.get(flat.OUTPUT, [])), facts)
        tools = flat.definitions_of(sections.get(flat.TOOLS, []))
        stop = next((first_str(item, "finish_reason") for item in sections.get(flat.OUTPUT, [])), None)
        return (
            [message for message in messages if message],
            [{"message": answer, "finish_reason": stop}] if answer else [],
            tools,
        )
    events = [(event.name, event.attributes, None) for event in span.events]
    events += [(log.name, log.attributes, log.body) for log in sorted(logs, key=lambda log: log.time)]
    exchange = genai.exchange_of(events, facts.get("events"))
    return exchange.messages, exchange.choices, genai.definitions_in(facts)


def _plain_role(message: GenAiMessage) -> GenAiMessage:
    """The message, unless smolagents only describes calls in it: the answer before has the calls themselves."""
    if message.get("role") == _SMOLAGENTS_CALLS:
        return {}
    return message


def _answer(answer: GenAiMessage | None, facts: dict[str, Any]) -> GenAiMessage | None:
    """An answer with its reasoning, which OpenInference has only in `output.value`."""
    if answer is None or not (answer.get("content") or answer.get("tool_calls")):
        return None
    output = parsed(facts.get("output.value"))
    if isinstance(output, list) and len(output) == 1:  # openai-agents: the message itself
        thought = first_str(a_dict(output[0]), "reasoning_content", "reasoning")
        return {**answer, "reasoning_content": thought} if thought else answer
    raw = a_dict(output).get("raw")
    if (
        isinstance(raw, str) and "reasoning_content=" in raw
    ):  # smolagents: reasoning is a further text beside the content
        return _without_thoughts(answer, a_dict(output).get("content"))
    return answer


def _without_thoughts(answer: GenAiMessage, content: Any) -> GenAiMessage:
    said = answer.get("content")
    parts = dicts(said) if isinstance(said, list) else [{"type": "text", "text": said}]
    thoughts = [a_str(part.get("text")) for part in parts if part.get("text") != content]
    rest = [part for part in parts if part.get("text") == content]
    return {**answer, "content": rest, "reasoning_content": "\n".join(text for text in thoughts if text)}


def _usage(facts: dict[str, Any], model: str | None, answer_id: str) -> UsagePayload | None:
    into, out = _first(facts, _INPUT), _first(facts, _OUTPUT)
    if not into and not out:
        return None
    cost = next((amount for name in _COST if (amount := dollars(facts.get(name))) is not None), None)
    return UsagePayload(
        scope="call",
        input_tokens=into or 0,
        output_tokens=out or 0,
        cache_read_input_tokens=_first(facts, _CACHE_READ),
        cache_creation_input_tokens=_first(facts, _CACHE_WRITE),
        reasoning_output_tokens=_first(facts, _REASONING),
        cost_usd=cost,
        model=model,
        message_id=answer_id,
    )


def _first(facts: dict[str, Any], names: tuple[str, ...]) -> int | None:
    return next((count for name in names if (count := tokens(facts.get(name))) is not None), None)
