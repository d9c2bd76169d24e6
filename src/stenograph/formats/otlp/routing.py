"""Which run a span goes to: requests of OTLP are split and regrouped by conversation.

Theory of operation. A model call goes to the run of its conversation, else of its trace (`kind.key_of`). Every other
span of a trace goes to all runs that have model calls in the trace, because it may be the parent of one of them; so do
log records. While a trace has no model call, its spans wait. A trace that never has one is a run when its root has come
and some span in it is an agent's; the caller decides by `settle` when to check that. The number of waiting spans is
bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, field

from stenograph.formats.otlp.conversation import MARK
from stenograph.formats.otlp.kind import MODEL, OTHER, ROUTING_FACTS, conversation_of, key_of, kind_of
from stenograph.formats.otlp.span import LogRecord, Span, logs_in_scope, span_of
from stenograph.formats.shared.loose import a_dict, a_str, dicts

TRACES = 10_000
"""Traces that are remembered at once."""
BYTES = 64 << 20
"""Bytes of spans that are remembered at once."""
_encode = msgspec.json.Encoder().encode
_SIGNALS = (("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords"))


class Piece(NamedTuple):
    """A span or a log record as it was sent, with its resource and scope."""

    signal: int
    """Its place in `_SIGNALS`."""
    resource: dict[str, Any]
    scope: dict[str, Any]
    item: dict[str, Any]


class Trace(Struct):
    """What is remembered of a trace."""

    keys: list[str] = field(default_factory=list)
    """The runs that it belongs to."""
    shared: list[Piece] = field(default_factory=list)
    """Everything but its model calls."""
    size: int = 0
    conversations: set[str] = field(default_factory=set)
    is_of_agent: bool = False
    has_root: bool = False
    place: int = 0
    """Where its first request was read: see `Routing.take`."""
    last_seen: float = 0.0
    """When its last request was taken."""


Routed = dict[str, list[Piece]]
"""Pieces by the run that they go to."""


class Routing:
    """Routes requests, one after the other."""

    def __init__(self, *, traces: int = TRACES, size: int = BYTES) -> None:
        """At most `traces` traces, and `size` bytes of them, are remembered."""
        self._most_traces = traces
        self._most_bytes = size
        self._traces: dict[str, Trace] = {}
        self._bytes = 0
        self.ignored = 0
        """Spans of traces without an agent's span, and log records about other things."""

    @property
    def first_waiting(self) -> int | None:
        """The place of the first request with spans that belong to no run yet; None when no span waits."""
        return min((trace.place for trace in self._traces.values() if not trace.keys), default=None)

    def take(self, request: dict[str, Any], *, place: int = 0, now: float = 0.0) -> Routed:
        """The runs of a request's spans and log records, and of waiting ones that they release.

        `place` says where the request was read, `now` is the time of a monotonic clock.
        """
        routed: Routed = {}
        for piece, span in _pieces(request):
            if span is None:
                self.ignored += 1
                continue
            trace = self._traces.pop(span.trace_id, None) or Trace(place=place)
            trace.last_seen = now
            self._traces[span.trace_id] = trace  # the latest trace is the last
            if isinstance(span, Span) and kind_of(span) == MODEL:
                _give(routed, trace, key_of(span), piece)
                trace.is_of_agent = True
            else:
                self._share(routed, trace, piece, span)
        self._forget(routed)
        return routed

    def settle(self) -> Routed:
        """The runs of complete traces without a model call."""
        routed: Routed = {}
        for trace_id, trace in self._traces.items():
            if not trace.keys and trace.has_root and trace.is_of_agent:
                _begin(routed, trace, trace_id)
        return routed

    def expire(self, before: float) -> Routed:
        """Forget traces without a request since then; return the runs of their waiting spans."""
        routed: Routed = {}
        while self._traces:
            trace_id, trace = next(iter(self._traces.items()))
            if trace.last_seen >= before:
                break
            self._let_go(routed, trace_id)
        return routed

    def _share(self, routed: Routed, trace: Trace, piece: Piece, span: Span | LogRecord) -> None:
        size = len(_encoded(piece.item))
        trace.shared.append(piece)
        trace.size += size
        self._bytes += size
        if isinstance(span, Span):
            trace.is_of_agent = trace.is_of_agent or kind_of(span) != OTHER
            trace.has_root = trace.has_root or not span.parent_id
            if conversation := conversation_of(span.attributes):
                trace.conversations.add(conversation)
        for key in trace.keys:
            routed.setdefault(key, []).append(piece)

    def _forget(self, routed: Routed) -> None:
        """Forget the traces that are idle the longest, until the limits are kept."""
        while len(self._traces) > self._most_traces or (self._bytes > self._most_bytes and self._traces):
            self._let_go(routed, next(iter(self._traces)))

    def _let_go(self, routed: Routed, trace_id: str) -> None:
        trace = self._traces.pop(trace_id)
        self._bytes -= trace.size
        if not trace.keys and trace.is_of_agent:
            _begin(routed, trace, trace_id)
        elif not trace.keys:
            self.ignored += len(trace.shared)


def _give(routed: Routed, trace: Trace, key: str, piece: Piece) -> None:
    """Give a model call to its run; a run that is new to the trace also gets the trace's earlier spans."""
    pieces = routed.setdefault(key, [])
    if key not in trace.keys:
        trace.keys.append(key)
        pieces += trace.shared
    pieces.append(piece)


def _begin(routed: Routed, trace: Trace, trace_id: str) -> None:
    """Make a run of a trace without a model call."""
    key = min(trace.conversations, default=trace_id)
    trace.keys.append(key)
    routed.setdefault(key, []).extend(trace.shared)


def request_of(key: str, pieces: list[Piece]) -> bytes:
    """Pieces of one run as a line: a request of OTLP that names the conversation."""
    request: dict[str, Any] = {}
    groups: dict[tuple[int, int, int], list[Any]] = {}
    for piece in pieces:
        outer, middle, inner = _SIGNALS[piece.signal]
        place = piece.signal, id(piece.resource), id(piece.scope)
        if place not in groups:
            items: list[Any] = []
            groups[place] = items
            scoped = {"scope": piece.scope, inner: items}
            request.setdefault(outer, []).append({"resource": piece.resource, middle: [scoped]})
        groups[place].append(piece.item)
    return _encoded({**request, MARK: {"conversation": key}}) + b"\n"


def _encoded(value: Any) -> bytes:
    try:
        return _encode(value)
    except UnicodeEncodeError:  # a lone surrogate, which JSON can hold only as an escape
        import json

        return json.dumps(value).encode()


def _pieces(request: dict[str, Any]) -> Iterator[tuple[Piece, Span | LogRecord | None]]:
    """Every span and log record of a request, with its resource and scope."""
    for signal, (outer, middle, inner) in enumerate(_SIGNALS):
        for holder in dicts(request.get(outer)):
            resource = a_dict(holder.get("resource"))
            for scoped in dicts(holder.get(middle)):
                scope = a_dict(scoped.get("scope"))
                for item in dicts(scoped.get(inner)):
                    piece = Piece(signal, resource, scope, item)
                    yield piece, _span(item, scope) if signal == 0 else next(logs_in_scope([item]), None)


def _span(item: dict[str, Any], scope: dict[str, Any]) -> Span | None:
    span = span_of(item, a_str(scope.get("name")), "", ROUTING_FACTS)
    return span if span.trace_id and span.span_id else None
