"""OTLP: a run as a trace of spans in one request, in JSON (MLflow, Langfuse) and in protobuf (every collector)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stenograph.export.exporter import Exporter
from stenograph.export.otlp_protobuf import request_message, span_message
from stenograph.export.otlp_trace import Trace, attributes_of
from stenograph.export.wording import json_line
from stenograph.fold.losses import LossReport
from stenograph.model.event import Event
from stenograph.version import __version__

RESOURCE: dict[str, Any] = {
    "attributes": attributes_of({"service.name": "stenograph", "openinference.project.name": "stenograph"})
}
SCOPE: dict[str, Any] = {"name": "stenograph", "version": __version__}


def write(events: Iterable[Event], report: LossReport, *, content: str, vocabulary: str) -> Iterator[bytes]:
    """One OTLP request with every span of the run, in JSON."""
    spans = Trace(events, report, content, vocabulary).spans()
    yield json_line({"resourceSpans": [{"resource": RESOURCE, "scopeSpans": [{"scope": SCOPE, "spans": spans}]}]})


def write_protobuf(events: Iterable[Event], report: LossReport, *, content: str, vocabulary: str) -> Iterator[bytes]:
    """One OTLP request with every span of the run, in protobuf."""
    spans = Trace(events, report, content, vocabulary).spans()
    yield request_message(RESOURCE, SCOPE, map(span_message, spans))


EXPORTER = Exporter(
    name="otlp",
    what="a trace as OTLP/JSON (GenAI or OpenInference attributes): collectors, MLflow, Langfuse",
    suffix=".otlp.json",
    write=write,
    options={"content": ("delta", "full", "none"), "vocabulary": ("genai", "openinference")},
    is_lines=True,
)

PROTOBUF_EXPORTER = Exporter(
    name="otlp-protobuf",
    what="a trace as OTLP/protobuf: Phoenix and every collector",
    suffix=".otlp.pb",
    write=write_protobuf,
    options=EXPORTER.options,
)
