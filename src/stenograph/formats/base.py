"""What every format shares: the interface, splitting bytes into lines, the counts, and where an event comes from.

Theory of operation. A format is a push parser: `feed` takes bytes cut anywhere and returns the events of every complete
line; `finish` returns the events of an unfinished end. `LineFormat` does what all JSON Lines formats have in common;
each format decodes a line (`_decode`) and emits its events (`_map`). Every non-empty line leads to at least one event
or is counted in `report.accumulated`, and nothing raises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from importlib import import_module
from typing import Any, Literal, Protocol, runtime_checkable
from uuid import UUID, uuid5

import msgspec
from msgspec import Struct, field

from stenograph.fold.agent_tables import Agent, Tool, Turns
from stenograph.formats.layout import Layout
from stenograph.formats.settings import Hooks, McpSettings, Notify, Plugin
from stenograph.model import mend
from stenograph.model.codec import REFUSALS
from stenograph.model.event import Event, Origin
from stenograph.model.payload import UnknownPayload

_NATIVE_NAMESPACE = UUID("0c8f5a0e-7a55-5d0f-8a53-5b5c9a6f3b21")


class Context(Struct, frozen=True, kw_only=True):
    """What the opener of a file knows about it and the parser cannot know."""

    run_id: str
    parent_run_id: str | None = None
    source: str = "main"
    """`main`, or `subagent:<id>` for a file that holds one subagent."""
    file: str | None = None
    """The file's name relative to the run's main file; None for the main file itself."""
    adapter: str | None = None
    """What recorded it, when not the format itself."""
    session_id: str | None = None
    prompt_name: str | None = None
    parent_source: str | None = None
    parent_call_id: str | None = None
    """With `parent_source`: the call that spawned this file's source."""
    at: str = "1970-01-01T00:00:00.000000Z"
    """The file's time, for lines before the first one with a time of its own."""
    keep_raw: bool = True
    separate: Container[str] = frozenset()
    """The sources that have files of their own: records of them in this file are skipped."""
    already: frozenset[int] = frozenset()
    """Keys of records of a subagent's file that were already emitted from the session's main file."""
    is_growing: bool = False
    """Whether to emit events as soon as they are known, although later lines may show that they were wrong."""
    side_file: Callable[[str], str | None] | None = None
    """Reads an output that the agent stored in a separate file: its text, or a data URL of a picture or a sound. None
    when no file may be opened."""


class Identity(Struct, frozen=True, kw_only=True):
    """What the beginning and the name of a file say about it."""

    native_id: str = ""
    """The agent's own id of the run; empty when it has none."""
    session_id: str | None = None
    parent_native_id: str | None = None
    source: str = "main"
    cwd: str | None = None
    """The folder in which the agent works."""
    branch: str | None = None
    """The git branch of that folder when the run began."""
    agent: str | None = None
    """Which agent wrote it, if the format does not say."""
    agent_version: str | None = None
    model: str | None = None
    """The first model that is named."""

    def run_id(self, format_name: str, fallback: str) -> str:
        """The agent's own UUID where it has one, else one derived from the format and its id (or `fallback`)."""
        return run_id_of(format_name, self.native_id or fallback)


class Report(Struct, kw_only=True):
    """What a parser read, and everything it did not understand."""

    bytes: int = 0
    lines: int = 0
    """Physical lines, blank ones included."""
    events: int = 0
    accumulated: int = 0
    """Records that led to no event of their own: deltas that a later record repeats whole."""
    malformed: int = 0
    """Lines that are not JSON."""
    replaced: int = 0
    """Characters that are not valid UTF-8 and became U+FFFD."""
    failed: int = 0
    """Lines on which our own mapping broke; kept as `unknown`, and a bug to report."""
    unknown_types: Counter[str] = field(default_factory=Counter)
    """Record types that no format knows."""
    blank_lines: dict[int, str] = field(default_factory=dict)
    """Numbers of lines of whitespace only; no event refers to them."""
    crlf_lines: int = 0
    byte_order_mark: bool = False
    final_newline: bool = True
    """Whether the last line ended; true for an empty file."""
    wanted_files: list[str] = field(default_factory=list)
    """Side files that would have been read, but do not exist."""


class Format(Protocol):
    """A push parser for one agent's way of writing, for one file or stream."""

    name: str
    report: Report

    def feed(self, data: bytes) -> list[Event]:
        """The events of every line that is complete by now; how the bytes are cut makes no difference."""

    def feed_object(self, record: dict[str, Any]) -> list[Event]:
        """The events of one record that the caller already holds as an object."""

    def finish(self) -> list[Event]:
        """The events of an unfinished end."""


@runtime_checkable
class GrowingFormat(Format, Protocol):
    """A parser that emits events as soon as they are known (`Context.is_growing`), and says when they were wrong."""

    is_superseded: bool
    """Later input showed that emitted events were wrong: read the whole file again."""

    def go_on(self) -> None:
        """After a file was read as a whole: emit what is appended to it as it comes."""


Kind = Literal["file", "stream", "database", "document"]
"""How a format is stored: lines that an agent appends to its own file; lines that a program prints or a protocol
exchanges, kept in any file; a database with many sessions; one JSON document."""
Scope = Literal["call", "turn", "total"]
"""What a report of tokens is about: a model call, a turn, or the run so far."""
Detect = Callable[[Sequence[Any], str], int]
"""How surely the first records of a file (decoded JSON, at least one) with this path are in a format: 0 to 100."""
SURE, LIKELY, POSSIBLE = 90, 60, 20
"""Scores of a detection: only this program writes it; this one writes it and others might; many programs write it."""


class Binary(Struct, frozen=True, kw_only=True):
    """How to read a format that is not text."""

    may_be: Callable[[bytes], bool]
    """Whether a file with this beginning may be in the format."""
    records: Callable[[bytes], list[Any]]
    """The records of such a file, as decoded JSON; none when it turns out not to be in this format."""
    suffixes: tuple[str, ...] = ()
    """Files with these suffixes are in the format: for them an error of `records` is raised, for others it is not."""


class FormatSpec(Struct, frozen=True, kw_only=True):
    """Everything about a format. A `FormatSpec` in the entry-point group `stenograph.formats` adds one.

    docs/design/007-format-spec.md and docs/how-to/add-a-format.md say how one is written.
    """

    name: str
    """Also the name of its entry point."""
    what: str
    """One line for people."""
    versions: str
    """The versions it was verified with."""
    agent: Agent
    """The agent that writes it; an agent may have several formats: its files and what it prints."""
    kind: Kind
    detect: Detect
    """How sure it is that a file is in this format; the highest score wins, then `priority`."""
    identify: Callable[[Sequence[Any], str], Identity]
    """What the first records and the path say about the run."""
    open: Callable[[Context], Format]
    """A new parser."""
    priority: int = 0
    """Of two formats that are equally sure, the one with the higher priority wins."""
    layout: Layout | None = None
    """Where the agent keeps such files, and which belong together; None for files without a fixed place."""
    binary: Binary | None = None
    """How to read files that are not text."""
    text: Callable[[bytes], bool] | None = None
    """Whether a file with this beginning is non-JSON text in this format: then its records are its first non-blank
    lines, as strings."""
    documents: bool = False
    """Whether a session is also written as one JSON object over many lines."""
    programs: tuple[str, ...] = ()
    """Names of programs whose sessions are kept in this format: `steno run` knows them by these."""
    adapters: Mapping[str, str] = {}
    """Adapters that record what this agent does, each with its name for people: `turns` and `tools` hold for them."""
    turns: Turns = Turns()
    """Which of its records begin, end or interrupt a turn."""
    tools: Mapping[str, Tool] = {}
    """What its agent's tools do, by name."""
    fork: tuple[str, str] | None = None
    """The subtype of a system event, and the field of its data, that names the run whose history this one continues."""
    labels: Mapping[str, str] = {}
    """Labels for people, by subtype of a system event, where the subtype itself would mislead."""
    notices: frozenset[str] = frozenset()
    """Subtypes of system events that a reader must not miss."""
    hooks: Hooks | None = None
    """How the agent can be made to call `steno hook`; None where it cannot."""
    notify: Notify | None = None
    """How the agent can be made to call `steno hook` after each turn; None where it cannot."""
    plugin: Plugin | None = None
    """A file that the agent loads and that calls `steno hook`; None where it loads none."""
    mcp: McpSettings | None = None
    """Where `steno mcp` can be registered with the agent; None where it cannot."""
    tokens: tuple[Scope, ...] = ()
    """What its token reports are about; empty when it reports no tokens."""
    sample: bytes = b""
    """A first line or two as its program writes them: no other format may claim them (`stenograph.testing`)."""
    volatile: tuple[str, ...] = ()
    """Regular expressions for parts of tool results that differ at each run."""

    @property
    def is_placed(self) -> bool:
        """Whether the agent keeps such files in a fixed place."""
        return self.layout is not None and bool(self.layout.homes)


def later(module: str, name: str) -> Callable[..., Any]:
    """The function or parser of that name, whose module is loaded at the first call.

    Many commands need every description, to know where each agent keeps its files, but few of the parsers.
    """
    found: Callable[..., Any] | None = None

    def call(*arguments: Any, **named: Any) -> Any:
        nonlocal found
        if found is None:
            found = getattr(import_module(module), name)
        return found(*arguments, **named)

    call.__module__ = module
    return call


def run_id_of(format_name: str, native_id: str) -> str:
    """The agent's own UUID, whatever its version, else a UUIDv5 of format and native id."""
    try:
        if len(native_id) == 36:
            return str(UUID(native_id))
    except ValueError:
        pass
    # Garbage ids may hold lone surrogates, which have no UTF-8.
    name = f"{format_name}\n{native_id}".encode("utf-8", "backslashreplace").decode()
    return str(uuid5(_NATIVE_NAMESPACE, name))


class LineFormat:
    """A format whose records are lines of JSON. Subclasses set `name` and give `_decode` and `_map`."""

    name = ""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.report = Report()
        self._pieces: list[bytes] = []
        self._out: list[Event] = []
        self._raw: bytes | None = None
        self._origin: Origin | None = None
        self._run_id = context.run_id
        self._parent_run_id = context.parent_run_id
        self._timestamp = context.at
        self._time: Literal["inherited", "given"] = "given"

    # What a format implements.

    def _decode(self, line: bytes) -> Any:
        """A line as the record that `_map` takes; may raise what msgspec raises, then `_convert` is tried."""
        return msgspec.json.decode(line)

    def _convert(self, value: Any) -> Any:
        """A decoded JSON value as the record that `_map` takes. Must take any JSON value."""
        return value

    def _map(self, record: Any) -> None:
        """Emit the record's events by `_place`, then `_emit` (or `_accumulate`)."""
        raise NotImplementedError

    def _finish(self) -> None:
        """Emit what was accumulated and never completed."""

    # What a format uses.

    def _place(
        self,
        timestamp: Any = None,
        *,
        source: str | None = None,
        session_id: str | None = None,
        parent_source: str | None = None,
        parent_call_id: str | None = None,
    ) -> None:
        """Set source and time of this record's events; without a timestamp the previous one is kept."""
        context = self.context
        time: Literal["inherited", "given"] | None = self._time
        if isinstance(timestamp, str) and timestamp:
            self._timestamp, self._time, time = timestamp, "inherited", None
        source = source or context.source
        self._origin = Origin(
            adapter=context.adapter or self.name,
            source=None if source == "main" else source,
            session_id=session_id or context.session_id,
            prompt_name=context.prompt_name,
            file=context.file,
            line=self.report.lines or None,
            parent_source=parent_source or context.parent_source,
            parent_call_id=parent_call_id or context.parent_call_id,
            time=time,
        )

    def _emit(self, type: str, payload: Any, *, child_run_id: str | None = None) -> None:
        """Emit one event of the current record; the first of a line carries the line."""
        if self._origin is None:
            self._place()
        raw = raw_b64 = None
        if self._raw is not None:
            raw, raw_b64 = mend.raw_fields(self._raw)
            self._raw = None
        self._out.append(
            Event(
                seq=0,
                run_id=self._run_id,
                parent_run_id=self._parent_run_id,
                child_run_id=child_run_id,
                type=type,
                path="",
                iteration=0,
                timestamp=self._timestamp,
                origin=self._origin,
                payload=payload,
                raw=raw,
                raw_b64=raw_b64,
            )
        )

    def _accumulate(self) -> None:
        """Note that this record leads to no event of its own."""
        self.report.accumulated += 1
        self._raw = None

    def _unknown(self, value: Any, type: object = None) -> None:
        """Emit a record of unknown type as it is."""
        self.report.unknown_types[type if isinstance(type, str) else "(none)"] += 1
        self._emit("unknown", UnknownPayload(value=value))

    # The interface of `Format`.

    def feed(self, data: bytes) -> list[Event]:
        """The events of every line that is complete by now."""
        self.report.bytes += len(data)
        if b"\n" not in data:
            if data:
                self._pieces.append(data)
            return []
        *lines, rest = data.split(b"\n")
        if self._pieces:  # a line may be as long as the memory: it is held once, and freed when it is read
            self._pieces.append(lines[0])
            lines[0] = b"".join(self._pieces)
        self._pieces = [rest] if rest else []
        lines.reverse()
        while lines:
            self._line(lines.pop())
        return self._taken()

    def feed_object(self, record: dict[str, Any]) -> list[Event]:
        """The events of one record that the caller already holds."""
        self.report.lines += 1
        self._raw = None
        self._guarded(self._map_value, record)
        return self._taken()

    def finish(self) -> list[Event]:
        """The events of a last line without a newline, and of records that were never completed."""
        if self._pieces:
            line, self._pieces = b"".join(self._pieces), []
            self.report.final_newline = False
            self._line(line)
        self._raw = self._origin = None
        self._finish()
        return self._taken()

    def _taken(self) -> list[Event]:
        events, self._out = self._out, []
        self.report.events += len(events)
        return events

    def _line(self, line: bytes) -> None:
        report = self.report
        report.lines += 1
        if line.endswith(b"\r"):
            report.crlf_lines += 1
        if not line.strip():
            report.blank_lines[report.lines] = line.decode("utf-8", "replace")
            return
        self._raw = line if self.context.keep_raw else None
        if report.lines == 1 and line.startswith(b"\xef\xbb\xbf"):
            report.byte_order_mark = True
            line = line[3:]
        try:
            record = self._decode(line)
        except REFUSALS:
            self._slow(line)
            return
        self._guarded(self._map, record, line)

    def _slow(self, line: bytes) -> None:
        """A line that the typed decoder refused: unusual JSON, or not JSON."""
        try:
            value, replaced = mend.parse_json(line)
        except (ValueError, RecursionError):
            self.report.malformed += 1
            self._origin = None
            self._emit("unknown", UnknownPayload(text=line.decode("utf-8", "replace")))
            return
        self.report.replaced += replaced
        self._guarded(self._map_value, value)

    def _map_value(self, value: Any) -> None:
        self._map(self._convert(value))

    def _guarded(self, map: Callable[[Any], None], record: Any, line: bytes | None = None) -> None:
        """Map one record; on any error it is kept as unknown. With `line` the record is a typed part of that line."""
        before = len(self._out)
        accumulated = self.report.accumulated
        raw = self._raw
        self._origin = None
        try:
            map(record)
        except Exception:  # noqa: BLE001  # a format is total: a record that breaks the mapping is kept and counted
            self.report.failed += 1
            del self._out[before:]
            self._raw, self._origin = raw, None
        if len(self._out) == before and self.report.accumulated == accumulated:
            value = record if line is None else self._reread(line)
            self._unknown(value, value.get("type") if isinstance(value, dict) else None)

    def _reread(self, line: bytes) -> Any:
        """The whole JSON of a line that the typed decoder accepted; that decoder skips what it does not need."""
        try:
            value, replaced = mend.parse_json(line)
        except (ValueError, RecursionError):
            return line.decode("utf-8", "replace")
        self.report.replaced += replaced
        return value
