"""The spans of conversations as events, span by span in the order in which they ended.

Theory of operation. The run of a model call is its conversation, else its trace. Model calls and tool uses are emitted;
agents and chains repeat them, and are emitted only if they failed, or if nothing else shows what they did. A span
inside a tool belongs to a subagent, which is identified by the span of that tool. `Transcript` takes spans in order. It
reports when that was not possible: a span comes late, or its parents turn out to be of another kind. Then its events
must be dropped, and all spans emitted again in their order, which always gives the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from stenograph.formats.otlp.kind import MODEL, OTHER, TOOL, conversation_of, key_of, kind_of
from stenograph.formats.otlp.model_call import has_content, model_call
from stenograph.formats.otlp.source_chat import SourceChat
from stenograph.formats.otlp.span import LogRecord, Span
from stenograph.formats.otlp.tool_use import failure_of, tool_use
from stenograph.formats.otlp.tree import Node, Tree
from stenograph.formats.shared.loose import a_str, first_str
from stenograph.model.payload import ErrorPayload, SystemPayload, UnknownPayload

MAIN = "main"
ENDED = "agent_ended"
"""The subtype of the event for an agent without any model call."""


class Speaker(Struct, frozen=True):
    """Who speaks in an event: the run, the source within it, and the call that began the source."""

    conversation: str
    source: str = MAIN
    parent_source: str | None = None
    parent_call_id: str | None = None
    parent_conversation: str | None = None
    """Set when a tool of another conversation began this one."""


class BareEvent(Struct, frozen=True):
    """An event without the fields that only the file's reader knows."""

    speaker: Speaker
    type: str
    payload: Any
    time: int


Emit = Callable[[BareEvent], None]


class Transcript:
    """Emits the events of a file's spans."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self.failed = 0
        """Spans on which the mapping broke."""
        self.only = ""
        """The only conversation in the file; empty when a file may hold several."""
        self._tree = Tree()
        self._logs: dict[str, list[LogRecord]] = {}
        """Log records whose spans were not emitted yet."""
        self._seen: dict[str, bytes] = {}
        """The digest of every span, by its id."""
        self._seen_logs: set[bytes] = set()
        self._last = (0, "")
        """The sort key of the last emitted span."""
        self._chats: dict[tuple[str, str], SourceChat] = {}
        self._subagents: dict[str, Speaker] = {}
        """By the span of the tool that began them, and the conversation."""
        self._keys: dict[str, str] = {}
        """The conversation of each trace."""
        self._has_model: set[str] = set()
        """Traces with a model call."""
        self._failed: set[str] = set()
        """Traces whose failure was emitted."""
        self._left_out: set[str] = set()
        """Model calls that are emitted from another span with more content."""
        self._now = 0
        self._speaker = Speaker("")
        self.span_id = ""
        """The span that is being emitted."""

    # Taking spans.

    def take(self, spans: Iterable[Span], logs: Iterable[LogRecord]) -> bool:
        """Emit new spans, as far as possible; False when everything must be emitted again."""
        known = [self._take_log(log) for log in logs]
        is_emitted = all(known)
        for span in sorted(spans, key=lambda span: span.order):
            if self._seen.get(span.id) == span.digest:
                continue
            is_emitted = is_emitted and span.id not in self._seen
            self._seen[span.id] = span.digest
            is_moved = self._tree.add(span)
            is_emitted = is_emitted and not is_moved and self._is_in_order(span) and self._knows_trace(span)
            if is_emitted:
                self._emit_span(span)
        return is_emitted

    def _is_in_order(self, span: Span) -> bool:
        """Whether a span can be emitted now: it ended after the emitted ones, and does not repeat one of them."""
        kind = kind_of(span)
        if kind == OTHER:
            return True
        return span.order >= self._last and not (kind == MODEL and self._tree.around(span, MODEL))

    def _knows_trace(self, span: Span) -> bool:
        """Note the conversation of a trace; False when its spans were emitted under another one."""
        key = self._named(span)
        return not key or self._keys.setdefault(span.trace_id, key) == key or kind_of(span) != MODEL

    def _take_log(self, log: LogRecord) -> bool:
        if log.digest in self._seen_logs:
            return True
        self._seen_logs.add(log.digest)
        self._logs.setdefault(log.span, []).append(log)
        return log.span not in self._seen

    def emit_all(self, spans: Iterable[Span], logs: Iterable[LogRecord]) -> None:
        """Emit all spans of a file, each once, independent of the order in which they came."""
        chosen: dict[str, Span] = {}
        for span in spans:
            other = chosen.get(span.id)
            # The same span twice: take the one that ended later, else decide by digest, so that the choice is stable.
            if other is None or (span.end, span.digest) > (other.end, other.digest):
                chosen[span.id] = span
        for log in logs:
            self._take_log(log)
        for each in self._logs.values():
            each.sort(key=lambda log: (log.time, log.digest))
        ordered = sorted(chosen.values(), key=lambda span: span.order)
        for span in ordered:
            self._seen[span.id] = span.digest
            self._tree.add(span)
        for span in sorted(ordered, key=lambda span: kind_of(span) != MODEL):  # model calls name it most reliably
            self._knows_trace(span)
        self._leave_out_repeats(chosen)
        for span in ordered:
            self._emit_span(span)

    def _leave_out_repeats(self, spans: dict[str, Span]) -> None:
        """Of two nested model calls, which two layers reported, emit only the one with more content."""
        for span in spans.values():
            outer = self._tree.around(span, MODEL) if kind_of(span) == MODEL else None
            if outer is not None and outer.id in spans:
                says_more = has_content(spans[outer.id], self._logs.get(outer.id, ()))
                self._left_out.add(span.id if says_more else outer.id)

    # Emitting a span.

    def _emit_span(self, span: Span) -> None:
        kind = kind_of(span)
        if kind == OTHER:
            return
        self.span_id = span.id
        self._last = max(self._last, span.order)
        self._tree.depend(span)
        speaker = self._speaker_of(span)
        logs = self._logs.pop(span.id, ())
        if span.id in self._left_out or (self.only and speaker.conversation != self.only):
            return
        try:
            if kind == MODEL:
                self._emit_model_call(span, speaker, logs)
            elif kind == TOOL:
                self._emit_tool_use(span, speaker)
            else:
                self._emit_agent(span, speaker)
        except Exception:  # noqa: BLE001  # a format is total: a span that breaks the mapping is kept and counted
            self.failed += 1
            self._at(speaker, span.end)
            self._put_unknown({"name": span.name, "attributes": span.attributes}, None)

    def _emit_model_call(self, span: Span, speaker: Speaker, logs: Iterable[LogRecord]) -> None:
        self._has_model.add(span.trace_id)
        chat = self._chat(speaker)
        call = model_call(span, list(logs))
        self._at(speaker, span.start)
        chat.ask(call)
        self._at(speaker, span.end)
        chat.answer(call)
        if span.failure is None:
            self._failed.discard(span.trace_id)
        else:
            self._emit_failure(span)

    def _emit_tool_use(self, span: Span, speaker: Speaker) -> None:
        chat = self._chat(speaker)
        use = tool_use(span)
        call_id = chat.claim(span.id, use)
        self._at(speaker, span.start)
        chat.begin(call_id, use)
        self._at(speaker, span.end)
        chat.end(call_id, use)

    def _emit_agent(self, span: Span, speaker: Speaker) -> None:
        """Emit an agent's input and output, if no model call shows what it did."""
        facts = span.attributes
        said = {name: facts[f"{name}.value"] for name in ("input", "output") if facts.get(f"{name}.value")}
        self._at(speaker, span.end)
        if span.trace_id not in self._has_model:
            name = first_str(facts, "gen_ai.agent.name", "agent.name", "graph.node.id") or span.name
            self._put("system.event", SystemPayload(subtype=ENDED, text=name, data=said or None))
        if span.failure is not None and span.trace_id not in self._failed:  # every span around a failure repeats it
            self._emit_failure(span)

    def _emit_failure(self, span: Span) -> None:
        self._failed.add(span.trace_id)
        code = a_str(span.exception.get("exception.type")) or a_str(span.attributes.get("error.type")) or None
        self._put("error", ErrorPayload(message=failure_of(span), code=code))

    # Who speaks.

    def _named(self, span: Span) -> str:
        """The conversation that a span names; a model call that names none belongs to its trace."""
        return key_of(span) if kind_of(span) == MODEL else conversation_of(span.attributes)

    def _speaker_of(self, span: Span) -> Speaker:
        key = self._named(span) or self.only or self._keys.get(span.trace_id) or span.trace_id
        return self._inside(span, key)

    def _inside(self, span: Span | Node, key: str) -> Speaker:
        """Who speaks in a span: the agent; inside a tool, a subagent or a run that the tool began."""
        tool = self._tree.around(span, TOOL)
        if tool is None or tool.use is None:
            return Speaker(key)
        if tool.conversation and tool.conversation != key:
            return Speaker(key, parent_conversation=tool.conversation, parent_call_id=tool.use.call_id or None)
        name = f"{tool.id} {key}"
        if name not in self._subagents:
            around = self._inside(tool, key)
            call_id = self._chat(around).claim(tool.id, tool.use)
            source = f"subagent:{tool.id.rpartition('/')[2]}"
            self._subagents[name] = Speaker(key, source, around.source, call_id, around.parent_conversation)
        return self._subagents[name]

    def _chat(self, speaker: Speaker) -> SourceChat:
        place = speaker.conversation, speaker.source
        chat = self._chats.get(place)
        if chat is None:
            chat = self._chats[place] = SourceChat(self._put, self._put_unknown)
        return chat

    def _at(self, speaker: Speaker, time: int) -> None:
        self._speaker, self._now = speaker, time

    def _put_unknown(self, value: Any, _: object) -> None:
        self._put("unknown", UnknownPayload(value=value))

    def _put(self, type: str, payload: Any) -> None:
        self._emit(BareEvent(self._speaker, type, payload, self._now))
