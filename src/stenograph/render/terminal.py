"""A transcript for the terminal: one event at a time, indented by its step.

Everything that comes from a transcript is data: control characters and bidirectional overrides are shown, not applied.
"""

from __future__ import annotations

from stenograph.model.event import Event
from stenograph.model.payload import LifecyclePayload
from stenograph.render.control_chars import on_one_line, visible
from stenograph.render.figures import local_clock
from stenograph.transcript.entry import TranscriptEntry
from stenograph.transcript.project import Projector

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
_MARKS = {
    "user_message": ("👤", "blue"),
    "assistant_message": ("🤖", "green"),
    "thinking": ("💭", "dim"),
    "tool_use": ("🔧", "yellow"),
    "tool_result": ("  ↳", "dim"),
    "token_usage": ("Σ", "dim"),
    "system_event": ("⚙️", "magenta"),
    "error": ("✗", "red"),
    "unknown": ("?", "magenta"),
}
LONG_OUTPUT = 30
DEEPEST_INDENT = 20
_TIME_WIDTH = len("08:14:42")


class TerminalRenderer:
    """Renders the events of one run, in order."""

    def __init__(self, *, color: bool = True, full: bool = False, times: bool = False) -> None:
        """`full` shows long tool outputs whole; `times` begins each event with its local time of day."""
        self._color = color
        self._full = full
        self._times = times
        self._projector = Projector()

    def render(self, event: Event) -> str:
        """The lines of one event, newline included; empty when there is nothing to show."""
        return "".join(self.pieces(event))

    def pieces(self, event: Event) -> list[str]:
        """The lines of one event in pieces: to join a long text with a mark such as 👤 takes four times its memory."""
        entries = self._projector.feed(event)
        if isinstance(event.payload, LifecyclePayload):
            lines = [[self._lifecycle(event, event.payload)]]
        else:
            lines = [self._entry(entry) for entry in entries]
        indent = "  " * _depth(event)
        shown: list[str] = []
        for line in lines:
            shown += [_indented(piece, indent, first=not place) for place, piece in enumerate(line)]
            shown.append("\n")
        return self._timed(event, shown) if self._times and shown else shown

    def _timed(self, event: Event, shown: list[str]) -> list[str]:
        """The lines of an event behind its time; further lines are aligned with the first."""
        time = on_one_line(local_clock(event.told_at))
        below = " " * (_TIME_WIDTH + 1)
        body = [_indented(piece, below, first=False) for piece in shown[:-1]]
        return [f"{self._style(time.ljust(_TIME_WIDTH), 'dim')} ", *body, "\n"]

    def _style(self, text: str, *styles: str) -> str:
        if not self._color or not styles:
            return text
        return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"

    def _lifecycle(self, event: Event, payload: LifecyclePayload) -> str:
        name = on_one_line(payload.name)
        turn = f" #{event.iteration}" if event.iteration else ""
        match event.type:
            case "run.started":
                place = on_one_line(f"run {event.run_id} {event.timestamp}")
                return f"{self._style('━━ ' + name, 'bold')} {self._style(place, 'dim')}"
            case "step.started":
                kind = self._style(on_one_line(payload.kind), "dim")
                return f"{self._style('▸ ' + name + turn, 'cyan', 'bold')} {kind}"
            case "step.call_workflow.started":
                child = self._style(f"run {on_one_line(event.child_run_id or '?')}", "dim")
                return f"{self._style('▸ ' + name + turn, 'cyan', 'bold')} calls {child}"
        if payload.error is not None:
            return self._style(f"✗ {name}{turn}: {visible(payload.error)}", "red")
        return self._style(f"✓ {name}{turn}", "dim")

    def _entry(self, entry: TranscriptEntry) -> list[str]:
        mark, style = _MARKS[entry.entry_type]
        error = (entry.metadata or {}).get("error")
        head = [on_one_line(entry.source)] if entry.source != "main" else []
        if entry.entry_type == "tool_use":
            head.append(on_one_line(entry.tool_name or ""))
        elif entry.entry_type == "user_message" and entry.role == "system":
            head.append("system prompt:")
        elif entry.entry_type in ("system_event", "unknown") and "subtype" in entry.detail:
            head.append(f"{on_one_line(str(entry.detail['subtype']))}:")
        if error is not None:
            head.append(self._style(f"failed: {visible(str(error))}", "red") + (" ·" if entry.content else ""))
        text = self._text(entry)
        lead = " ".join([mark, *head])
        body = _indented(text, "   ", first=False).rstrip()
        if style == "dim":
            begin, end = self._style("\0", style).split("\0")
            return [begin, f"{lead} ", body, end] if body else [begin, lead.rstrip(), end]
        return [f"{self._style(lead, style)} ", body] if body else [self._style(lead, style).rstrip()]

    def _text(self, entry: TranscriptEntry) -> str:
        text = visible(entry.content).rstrip("\n")
        if entry.tool_input is not None and len(entry.tool_input) == 1:
            (only,) = entry.tool_input.values()
            if isinstance(only, str):
                return visible(only)
        if entry.entry_type == "tool_use" and len(text) < 100:
            return " ".join(line.strip() for line in text.split("\n"))
        if entry.entry_type == "tool_result" and not self._full and text.count("\n") >= LONG_OUTPUT:
            *lines, rest = text.split("\n", LONG_OUTPUT)
            return "\n".join([*lines, f"… {rest.count(chr(10)) + 1} more lines (--full shows them)"])
        return text


def _depth(event: Event) -> int:
    """The indentation of an event: one level per surrounding step."""
    if not event.path:
        return 0
    depth = min(event.path.count(".") + 1, DEEPEST_INDENT)
    return depth - 1 if event.type.startswith("step.") else depth


def _indented(text: str, indent: str, *, first: bool = True) -> str:
    if not indent:  # a copy of a long text takes memory
        return text
    return (indent if first else "") + text.replace("\n", "\n" + indent)
