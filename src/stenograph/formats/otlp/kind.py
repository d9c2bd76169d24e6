"""The kind of a span: a model call, a tool use, the work of an agent, or something else.

Two vocabularies name it: the GenAI semantic conventions (`gen_ai.operation.name`) with their predecessors, and
OpenInference (`openinference.span.kind`).
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.otlp.span import LogRecord, Span
from stenograph.formats.shared.loose import a_str, first_str

MODEL, TOOL, AGENT, OTHER = "model", "tool", "agent", "other"
_OPENINFERENCE = {"LLM": MODEL, "TOOL": TOOL, "AGENT": AGENT}
_OPERATIONS = {
    "chat": MODEL,
    "text_completion": MODEL,
    "completion": MODEL,
    "generate_content": MODEL,
    "execute_tool": TOOL,
    "invoke_agent": AGENT,
    "invoke_workflow": AGENT,
}
_TRACELOOP = {"tool": TOOL, "agent": AGENT, "workflow": AGENT}
_REQUESTS = ("chat", "completion")
_MODEL_FACTS = ("gen_ai.request.model", "gen_ai.prompt.0.content", "gen_ai.usage.input_tokens")
_MERGED = "(merged"
_CONVERSATIONS = (
    "gen_ai.conversation.id",
    "session.id",
    "gcp.vertex.agent.session_id",
    "traceloop.association.properties.session_id",
)
ROUTING_FACTS = frozenset(
    {
        "openinference.span.kind",
        "gen_ai.operation.name",
        "traceloop.span.kind",
        "llm.request.type",
        "gen_ai.tool.name",
        "agent_name",
        "model_name",
        *_MODEL_FACTS,
        *_CONVERSATIONS,
    }
)
"""The attributes that say what a span is and which conversation it is of."""
_FRAMEWORKS = {"gcp.vertex.agent": "google-adk", "autogen-core": "autogen"}
_INSTRUMENTATIONS = ("openinference.instrumentation.", "opentelemetry.instrumentation.")
DETAILS = "gen_ai.client.inference.operation.details"
"""The log record that repeats everything of a model call."""


def kind_of(span: Span) -> str:
    """`MODEL`, `TOOL`, `AGENT` or `OTHER`."""
    facts = span.attributes
    named = a_str(facts.get("openinference.span.kind"))
    if named:
        return _OPENINFERENCE.get(named.upper(), OTHER)
    if _MERGED in span.name:  # google-adk's span around parallel calls, which have spans of their own
        return OTHER
    operation = a_str(facts.get("gen_ai.operation.name"))
    if operation:
        return _OPERATIONS.get(operation, OTHER)
    named = a_str(facts.get("traceloop.span.kind"))
    if named:
        return _TRACELOOP.get(named, OTHER)
    if facts.get("llm.request.type") in _REQUESTS if isinstance(facts.get("llm.request.type"), str) else False:
        return MODEL
    if isinstance(facts.get("gen_ai.tool.name"), str):
        return TOOL
    if "agent_name" in facts and "model_name" in facts:  # pydantic-ai before it named operations
        return AGENT
    return MODEL if any(name in facts for name in _MODEL_FACTS) else OTHER


def conversation_of(facts: dict[str, Any]) -> str:
    """The conversation that attributes name; empty when they name none."""
    return first_str(facts, *_CONVERSATIONS) or ""


def key_of(span: Span | LogRecord) -> str:
    """What identifies the run of a model call: its conversation, else its trace."""
    return conversation_of(span.attributes) or span.trace_id


def is_of_agent(span: Span) -> bool:
    """Whether a span is of a model, a tool or an agent."""
    return kind_of(span) != OTHER


def framework_of(scope: str) -> str:
    """The framework behind the name of an instrumentation: `pydantic-ai`, `openai-agents`, `langchain`, …"""
    for prefix in _INSTRUMENTATIONS:
        scope = scope.removeprefix(prefix)
    return _FRAMEWORKS.get(scope, scope.replace("_", "-"))
