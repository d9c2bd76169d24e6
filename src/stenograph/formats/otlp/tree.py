"""Which span is inside which: a span's parents decide the source and the run that it belongs to.

Spans arrive when they end, so children come before their parents. `Tree` knows the spans that were seen, and remembers
which unseen ones matter: if one of those is a tool or a model call, earlier emitted events were wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from stenograph.formats.otlp.kind import MODEL, TOOL, conversation_of, kind_of
from stenograph.formats.otlp.span import Span
from stenograph.formats.otlp.tool_use import ToolUse, tool_use

_DEEPEST = 500


class Node(Struct, frozen=True):
    """What is remembered of a span that was seen."""

    id: str
    parent: str
    kind: str
    conversation: str
    use: ToolUse | None = None
    """The use, for a tool's span, without its outcome."""


class Tree:
    """The spans of one file."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._awaited: set[str] = set()
        """Unseen spans that are parents of an emitted span."""

    def add(self, span: Span) -> bool:
        """Add a span; whether that changes where emitted spans belong."""
        kind = kind_of(span)
        use = None
        if kind == TOOL:
            full = tool_use(span)
            use = ToolUse(
                name=full.name, call_id=full.call_id, input=full.input, output=None, error=None, duration_ms=0
            )
        self._nodes[span.id] = Node(span.id, span.parent, kind, conversation_of(span.attributes), use)
        if span.id not in self._awaited:
            return False
        self._awaited.discard(span.id)
        return kind in (TOOL, MODEL) or self.depend(span)

    def depend(self, span: Span) -> bool:
        """Note that an emitted span depends on its parents; whether one of them is a tool or a model call."""
        last, found = span.parent, False
        for node in self.above(span):
            found = found or node.kind in (TOOL, MODEL)
            last = node.parent
        if last and last not in self._nodes:
            self._awaited.add(last)
        return found

    def above(self, span: Span | Node) -> Iterator[Node]:
        """The parents of a span that were seen, the nearest first."""
        name, left = span.parent, _DEEPEST
        while (node := self._nodes.get(name)) is not None and left:
            yield node
            name, left = node.parent, left - 1

    def around(self, span: Span | Node, kind: str) -> Node | None:
        """The nearest span of a kind that a span is inside of."""
        return next((node for node in self.above(span) if node.kind == kind), None)
