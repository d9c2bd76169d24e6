"""A trace of MLflow as a request of OTLP.

Values of attributes are JSON inside JSON. A span that OpenTelemetry sent to MLflow has its own vocabulary (GenAI,
OpenInference), and is taken unchanged. A span of MLflow's own tracing has its input and output as JSON
(`mlflow.spanInputs`, `mlflow.spanOutputs`), in the shape of the model's API: it is converted to OpenInference.
"""

from __future__ import annotations

from typing import Any

import msgspec

from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts
from stenograph.formats.shared.model_api.parts import plain_text
from stenograph.model.codec import REFUSALS

_KINDS = {
    "CHAT_MODEL": "LLM", "LLM": "LLM", "TOOL": "TOOL", "AGENT": "AGENT", "CHAIN": "CHAIN", "RETRIEVER": "RETRIEVER",
    "EMBEDDING": "EMBEDDING", "RERANKER": "RERANKER",
}  # fmt: skip
_VOCABULARIES = ("gen_ai.", "llm.", "openinference.")
_USAGE = {
    "input_tokens": "llm.token_count.prompt",
    "output_tokens": "llm.token_count.completion",
    "cache_read_input_tokens": "llm.token_count.prompt_details.cache_read",
    "cache_creation_input_tokens": "llm.token_count.prompt_details.cache_write",
}


def request_of(trace: dict[str, Any]) -> dict[str, Any]:
    """The request with the spans of a trace."""
    info = a_dict(trace.get("info"))
    session = a_str(a_dict(info.get("trace_metadata")).get("mlflow.trace.session"))
    spans = [_span(each, session) for each in dicts(a_dict(trace.get("data")).get("spans"))]
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "mlflow"}, "spans": spans}]}]}


def _span(span: dict[str, Any], session: str) -> dict[str, Any]:
    facts = {name: _plain(value) for name, value in a_dict(span.get("attributes")).items()}
    if not any(name.startswith(_VOCABULARIES) for name in facts):
        facts |= _worded(facts, a_str(span.get("name")))
    if session:
        facts.setdefault("session.id", session)
    return {
        "traceId": span.get("trace_id"),
        "spanId": span.get("span_id"),
        "parentSpanId": span.get("parent_span_id") or "",
        "name": span.get("name"),
        "startTimeUnixNano": span.get("start_time_unix_nano"),
        "endTimeUnixNano": span.get("end_time_unix_nano"),
        "status": span.get("status"),
        "events": span.get("events"),
        "attributes": [{"key": name, "value": _value(value)} for name, value in facts.items()],
    }


def _plain(value: Any) -> Any:
    """An attribute's value without the JSON around it."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (*REFUSALS, UnicodeEncodeError):
        return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": _text(value)}


# MLflow's own spans.


def _worded(facts: dict[str, Any], name: str) -> dict[str, Any]:
    kind = _KINDS.get(a_str(facts.get("mlflow.spanType")), "UNKNOWN")
    inputs, outputs = facts.get("mlflow.spanInputs"), facts.get("mlflow.spanOutputs")
    found: dict[str, Any] = {"openinference.span.kind": kind}
    if kind == "LLM":
        return found | _model_call(facts, a_dict(inputs), outputs)
    if kind == "TOOL":
        found |= {"tool.name": name, "tool.parameters": _text(inputs)}
    if inputs is not None:
        found["input.value"] = _text(inputs)
    if outputs is not None:
        found["output.value"] = _text(outputs)
    return found


def _model_call(facts: dict[str, Any], inputs: dict[str, Any], outputs: Any) -> dict[str, Any]:
    answer = a_dict(outputs)
    model = a_str(facts.get("mlflow.llm.model")) or a_str(answer.get("model")) or a_str(inputs.get("model"))
    found: dict[str, Any] = {"llm.model_name": model} if model else {}
    asked = _messages(inputs.get("messages") if "messages" in inputs else inputs.get("input"))
    if system := plain_text(inputs.get("system")):
        asked = [{"role": "system", "content": system}, *asked]
    for place, message in enumerate(part for each in asked for part in _results_apart(each)):
        found |= _message(f"llm.input_messages.{place}.message", message)
    for place, message in enumerate(_answers(answer, outputs)):
        found |= _message(f"llm.output_messages.{place}.message", message)
    for place, tool in enumerate(a_list(facts.get("mlflow.chat.tools")) or a_list(inputs.get("tools"))):
        found[f"llm.tools.{place}.tool.json_schema"] = _text(tool)
    usage = a_dict(facts.get("mlflow.chat.tokenUsage")) or a_dict(answer.get("usage"))
    usage = {"input_tokens": usage.get("prompt_tokens"), "output_tokens": usage.get("completion_tokens")} | usage
    return found | {name: usage[key] for key, name in _USAGE.items() if isinstance(usage.get(key), int)}


def _messages(value: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": value}] if isinstance(value, str) else dicts(value)


def _answers(answer: dict[str, Any], outputs: Any) -> list[dict[str, Any]]:
    """What the model said: a choice of Chat Completions, a message of Anthropic's, or a text."""
    choices = [a_dict(choice.get("message")) for choice in dicts(answer.get("choices"))]
    if choices:
        return choices[:1]
    if "content" in answer:
        return [{"role": "assistant", "content": answer["content"]}]
    return [{"role": "assistant", "content": outputs}] if isinstance(outputs, str) else []


def _results_apart(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Anthropic's results are parts of a user's message: each as a message by itself, then what else it says."""
    parts = dicts(message.get("content"))
    results = [part for part in parts if part.get("type") == "tool_result"]
    rest = [part for part in parts if part.get("type") != "tool_result"]
    found = [
        {"role": "tool", "tool_call_id": part.get("tool_use_id"), "content": part.get("content")} for part in results
    ]
    return [*found, *([{**message, "content": rest}] if rest else [])] if results else [message]


def _message(prefix: str, message: dict[str, Any]) -> dict[str, Any]:
    """A message of Chat Completions or of Anthropic's as flat attributes of OpenInference."""
    found: dict[str, Any] = {f"{prefix}.role": a_str(message.get("role")) or "assistant"}
    content = message.get("content")
    parts = dicts(content)
    calls = [*dicts(message.get("tool_calls")), *(part for part in parts if part.get("type") == "tool_use")]
    text = content if isinstance(content, str) else plain_text(content)
    if text or not calls:
        found[f"{prefix}.content"] = text
    if message.get("tool_call_id"):
        found[f"{prefix}.tool_call_id"] = a_str(message["tool_call_id"])
    for place, call in enumerate(calls):
        function = a_dict(call.get("function")) or call
        arguments = function.get("arguments", function.get("input"))
        inside = f"{prefix}.tool_calls.{place}.tool_call"
        found[f"{inside}.id"] = a_str(call.get("id"))
        found[f"{inside}.function.name"] = a_str(function.get("name"))
        found[f"{inside}.function.arguments"] = _text(arguments_of(arguments))
    return found
