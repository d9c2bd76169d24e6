"""Which files hold OTLP JSON, and what their first lines say about the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.otlp.conversation import conversation_in, native_id_of
from stenograph.formats.otlp.kind import MODEL, conversation_of, framework_of, is_of_agent, key_of, kind_of
from stenograph.formats.otlp.span import REQUEST_FIELDS, Span, logs_in, spans_in
from stenograph.formats.shared.loose import dicts, first_str


def detect(records: Sequence[Any], path: str) -> int:
    """By the fields of a request."""
    first = next(iter(dicts(list(records))), {})
    return SURE if any(isinstance(first.get(name), list) for name in REQUEST_FIELDS) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The conversation of the first model call, else of the first span that names one, else its trace."""
    requests = dicts(list(records))
    spans = [span for request in requests for span in spans_in(request)]
    key = next((found for request in requests if (found := conversation_in(request))), "") or _first_key(
        spans, requests
    )
    if not key:
        return Identity()
    models = [span.attributes for span in spans if kind_of(span) == MODEL]
    agent = next((span for span in spans if is_of_agent(span)), None)
    return Identity(
        native_id=native_id_of(key),
        session_id=key,
        agent=None if agent is None else framework_of(agent.scope) or None,
        agent_version=None if agent is None else agent.scope_version or None,
        model=next(
            (name for facts in models if (name := first_str(facts, "gen_ai.request.model", "llm.model_name"))), None
        ),
    )


def _first_key(spans: list[Span], requests: list[dict[str, Any]]) -> str:
    ordered = sorted(spans, key=lambda span: span.order)
    keys = [key_of(span) for span in ordered if kind_of(span) == MODEL]
    keys += [found for span in ordered if (found := conversation_of(span.attributes))]
    keys += [span.trace_id for span in ordered]
    keys += [key_of(log) for request in requests for log in logs_in(request)]
    return next(iter(keys), "")
