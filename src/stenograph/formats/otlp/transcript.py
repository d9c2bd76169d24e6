"""The spans of conversations as events, span by span in the order in which they ended.

Theory of operation. The run of a model call is its conversation, else its trace. Model calls and uses of tools are
told; agents and chains repeat them, and are told only where they failed, or where nothing else tells what they did. A
span inside of a tool belongs to a subagent, which is known by the span of that tool. `Transcript` takes spans in order.
It says when that was not possible: a span that comes late, or whose parents turn out to be something else. Then what it
told is to be thrown away, and all spans are to be told again in their order, which always gives the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from stenograph.formats.otlp.kind import MODEL, OTHER, TOOL, conversation_of, key_of, kind_of
from stenograph.formats.otlp.model_call import has_content, model_call
from stenograph.formats.otlp.span import LogRecord, Span
from stenograph.formats.otlp.thread import Thread
from stenograph.formats.otlp.tool_use import failure_of, tool_use
from stenograph.formats.otlp.tree import Node, Tree
from stenograph.formats.shared.loose import a_str, first_str
from stenograph.model.payload import ErrorPayload, SystemPayload, UnknownPayload

MAIN = "main"
ENDED = "agent_ended"
"""The subtype of what is told of an agent of whose model nothing is."""


class Speaker(Struct, frozen=True):
    """Who tells an event: the run, the source within it, and the call that began the source."""

    conversation: str
    source: str = MAIN
    parent_source: str | None = None
    parent_call_id: str | None = None
    parent_conversation: str | None = None
    """Of a conversation that a tool of another one began."""


class Told(Struct, frozen=True):
    """An event without what only the file knows."""

    speaker: Speaker
    type: str
    payload: Any
    time: int


Tell = Callable[[Told], None]


class Transcript:
    """Tells the spans of a file."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self.failed = 0
        """Spans on which the mapping broke."""
        self.only = ""
        """The one conversation that a file is of; empty where a file may hold several."""
        self._tree = Tree()
        self._logs: dict[str, list[LogRecord]] = {}
        """Log records whose spans were not told yet."""
        self._seen: dict[str, bytes] = {}
        """The digest of every span, by its id."""
        self._seen_logs: set[bytes] = set()
        self._last = (0, "")
        """The place in the order of the last span that was told."""
        self._threads: dict[tuple[str, str], Thread] = {}
        self._subagents: dict[str, Speaker] = {}
        """By the span of the tool that began them, and the conversation."""
        self._keys: dict[str, str] = {}
        """The conversation of each trace."""
        self._has_model: set[str] = set()
        """Traces with a model call."""
        self._failed: set[str] = set()
        """Traces that failed, and of which that was told."""
        self._left_out: set[str] = set()
        """Model calls that another span tells better."""
        self._now = 0
        self._speaker = Speaker("")
        self.span_id = ""
        """The span that is being told."""

    # Taking spans.

    def take(self, spans: Iterable[Span], logs: Iterable[LogRecord]) -> bool:
        """Tell spans that just came, as far as possible; False when everything has to be told again."""
        known = [self._take_log(log) for log in logs]
        is_told = all(known)
        for span in sorted(spans, key=lambda span: span.order):
            if self._seen.get(span.id) == span.digest:
                continue
            is_told = is_told and span.id not in self._seen
            self._seen[span.id] = span.digest
            is_moved = self._tree.add(span)
            is_told = is_told and not is_moved and self._is_in_order(span) and self._knows_trace(span)
            if is_told:
                self._tell_span(span)
        return is_told

    def _is_in_order(self, span: Span) -> bool:
        """Whether a span can be told after those that were: it ended later, and is no double of one of them."""
        kind = kind_of(span)
        if kind == OTHER:
            return True
        return span.order >= self._last and not (kind == MODEL and self._tree.around(span, MODEL))

    def _knows_trace(self, span: Span) -> bool:
        """Note the conversation of a trace; False when spans of it were told as those of another one."""
        key = self._named(span)
        return not key or self._keys.setdefault(span.trace_id, key) == key or kind_of(span) != MODEL

    def _take_log(self, log: LogRecord) -> bool:
        if log.digest in self._seen_logs:
            return True
        self._seen_logs.add(log.digest)
        self._logs.setdefault(log.span, []).append(log)
        return log.span not in self._seen

    def tell_all(self, spans: Iterable[Span], logs: Iterable[LogRecord]) -> None:
        """Tell all spans of a file, in whatever order they came, each once."""
        chosen: dict[str, Span] = {}
        for span in spans:
            other = chosen.get(span.id)
            # The same span twice: the one that ended later, else whichever; but always the same one.
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
        for span in sorted(ordered, key=lambda span: kind_of(span) != MODEL):  # model calls know best
            self._knows_trace(span)
        self._leave_out_doubles(chosen)
        for span in ordered:
            self._tell_span(span)

    def _leave_out_doubles(self, spans: dict[str, Span]) -> None:
        """Of a model call inside of another one, which a lower layer told, only the one that says more is told."""
        for span in spans.values():
            outer = self._tree.around(span, MODEL) if kind_of(span) == MODEL else None
            if outer is not None and outer.id in spans:
                says_more = has_content(spans[outer.id], self._logs.get(outer.id, ()))
                self._left_out.add(span.id if says_more else outer.id)

    # Telling a span.

    def _tell_span(self, span: Span) -> None:
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
                self._tell_model_call(span, speaker, logs)
            elif kind == TOOL:
                self._tell_tool_use(span, speaker)
            else:
                self._tell_agent(span, speaker)
        except Exception:  # noqa: BLE001  # a format is total: a span that breaks the mapping is kept and counted
            self.failed += 1
            self._at(speaker, span.end)
            self._put_unknown({"name": span.name, "attributes": span.attributes}, None)

    def _tell_model_call(self, span: Span, speaker: Speaker, logs: Iterable[LogRecord]) -> None:
        self._has_model.add(span.trace_id)
        thread = self._thread(speaker)
        call = model_call(span, list(logs))
        self._at(speaker, span.start)
        thread.ask(call)
        self._at(speaker, span.end)
        thread.hear(call)
        if span.failure is None:
            self._failed.discard(span.trace_id)
        else:
            self._tell_failure(span)

    def _tell_tool_use(self, span: Span, speaker: Speaker) -> None:
        thread = self._thread(speaker)
        use = tool_use(span)
        call_id = thread.claim(span.id, use)
        self._at(speaker, span.start)
        thread.begin(call_id, use)
        self._at(speaker, span.end)
        thread.end(call_id, use)

    def _tell_agent(self, span: Span, speaker: Speaker) -> None:
        """What an agent did is told by others; where nothing is, its input and output are all there is."""
        facts = span.attributes
        said = {name: facts[f"{name}.value"] for name in ("input", "output") if facts.get(f"{name}.value")}
        self._at(speaker, span.end)
        if span.trace_id not in self._has_model:
            name = first_str(facts, "gen_ai.agent.name", "agent.name", "graph.node.id") or span.name
            self._put("system.event", SystemPayload(subtype=ENDED, text=name, data=said or None))
        if span.failure is not None and span.trace_id not in self._failed:  # every span around a failure repeats it
            self._tell_failure(span)

    def _tell_failure(self, span: Span) -> None:
        self._failed.add(span.trace_id)
        code = a_str(span.exception.get("exception.type")) or a_str(span.attributes.get("error.type")) or None
        self._put("error", ErrorPayload(message=failure_of(span), code=code))

    # Who speaks.

    def _named(self, span: Span) -> str:
        """The conversation that a span names by itself; a model call that names none is its trace's."""
        return key_of(span) if kind_of(span) == MODEL else conversation_of(span.attributes)

    def _speaker_of(self, span: Span) -> Speaker:
        key = self._named(span) or self.only or self._keys.get(span.trace_id) or span.trace_id
        return self._inside(span, key)

    def _inside(self, span: Span | Node, key: str) -> Speaker:
        """Who speaks in a span: the agent, or inside of a tool a subagent, or a run that the tool began."""
        tool = self._tree.around(span, TOOL)
        if tool is None or tool.use is None:
            return Speaker(key)
        if tool.conversation and tool.conversation != key:
            return Speaker(key, parent_conversation=tool.conversation, parent_call_id=tool.use.call_id or None)
        name = f"{tool.id} {key}"
        if name not in self._subagents:
            around = self._inside(tool, key)
            call_id = self._thread(around).claim(tool.id, tool.use)
            source = f"subagent:{tool.id.rpartition('/')[2]}"
            self._subagents[name] = Speaker(key, source, around.source, call_id, around.parent_conversation)
        return self._subagents[name]

    def _thread(self, speaker: Speaker) -> Thread:
        place = speaker.conversation, speaker.source
        thread = self._threads.get(place)
        if thread is None:
            thread = self._threads[place] = Thread(self._put, self._put_unknown)
        return thread

    def _at(self, speaker: Speaker, time: int) -> None:
        self._speaker, self._now = speaker, time

    def _put_unknown(self, value: Any, _: object) -> None:
        self._put("unknown", UnknownPayload(value=value))

    def _put(self, type: str, payload: Any) -> None:
        self._tell(Told(self._speaker, type, payload, self._now))
