"""A run as Markdown, readable on GitHub: one heading per unit, thinking and outputs folded, nothing that breaks out.

Everything from the transcript is data. What was typed is escaped, what tools gave stands in fences longer than any
fence inside, and what the agent wrote stays Markdown without HTML, headings, images and fences left open.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from stenograph.fold.prices import Prices
from stenograph.fold.status import Life
from stenograph.model.block import AttachmentBlock, Block, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from stenograph.model.event import Event
from stenograph.model.payload import (
    ErrorPayload,
    LifecyclePayload,
    MessagePayload,
    SystemPayload,
    ToolPayload,
    UsagePayload,
)
from stenograph.render.brief import figures_of
from stenograph.render.figures import clock, cost, cost_words, counted, day, duration, tokens
from stenograph.render.given import COMMANDS, change_lines, change_of, command_of, is_patch, says_all
from stenograph.render.layout import PageLayout
from stenograph.render.markdown_text import escaped, fenced, html_text, paragraph, quoted, safe_markdown
from stenograph.render.names import event_label
from stenograph.render.outline import Outline, SourceFacts, UnitFacts, on_a_line
from stenograph.render.rereading import Rereading
from stenograph.render.skin import CallFacts
from stenograph.render.survey import outline_of
from stenograph.render.unwrapped import unwrapped
from stenograph.render.visible import on_one_line
from stenograph.transcript.content import as_text, block_text, indented, payload_text

LONG = 20
"""Lines beyond which an output is folded."""
_STYLES = re.compile(r"\x1b\[[0-9;:]{0,80}m")
"""Colours of a terminal, which Markdown has none for."""


def markdown_page(
    read: Callable[[], Iterable[Event]], *, full: bool = False, prices: Prices | None = None, life: Life | None = None
) -> Iterator[str]:
    """The page of a run, piece by piece.

    `read` gives the events of the run, from the first on, each time it is called. `full` folds no output.
    `life` is what is known of its process; without it the page says no status.
    """
    events = Rereading(read)
    outline = outline_of(events, prices, life)
    yield _head(outline)
    yield from PageLayout(outline, MarkdownSkin(full=full)).text(events)


def _head(outline: Outline) -> str:
    seconds = outline.span.seconds
    facts = [
        ("Agent", ", ".join((*outline.agent_names, *outline.models))),
        ("Folder", outline.cwd or ""),
        ("When", day(outline.span.started_at)),
        ("Duration", duration(seconds) if seconds else ""),
        ("Status", outline.status),
        *outline.counts,
        ("Errors", f"{outline.totals.errors:,}" if outline.totals.errors else ""),
        ("Tokens", tokens(outline.totals.tokens)),
        ("Cost", cost(outline.cost.dollars, outline.cost.is_partial)),
        ("Run", outline.run_id),
    ]
    rows = "".join(f"- {name}: {escaped(on_one_line(value))}\n" for name, value in facts if value)
    return f"# {escaped(on_one_line(outline.title))}\n\n{rows}\n"


class MarkdownSkin:
    """Writes each thing as Markdown; every piece ends in an empty line."""

    def __init__(self, *, full: bool = False) -> None:
        self._full = full

    def unit(self, facts: UnitFacts) -> tuple[str, str]:
        number = f"{facts.number}. " if facts.number else ""
        title = facts.title or (f"Prompt {facts.number}" if facts.number else "Before the first prompt")
        told = [clock(facts.span.started_at)] if facts.span.started_at else []
        told += [duration(facts.span.seconds)] if facts.span.seconds else []
        told += [counted(facts.calls, "tool call")] if facts.calls else []
        told += [counted(facts.errors, "error")] if facts.errors else []
        told += [tokens(facts.usage)] if facts.usage.records else []
        told += [paid] if (paid := cost_words(facts.cost.dollars, facts.cost.is_partial)) else []
        small = f"_{escaped(on_one_line(' · '.join(told)))}_\n\n" if told else ""
        return f"## {number}{escaped(on_one_line(title))}\n\n{small}", ""

    def message(self, event: Event, payload: MessagePayload, anchor: str, untold: frozenset[str]) -> str:
        is_user = event.type == "message.user"
        parts = [] if payload.system_prompt is None else [_folded("System prompt", fenced(payload.system_prompt))]
        parts += [self._block(block, is_user=is_user, untold=untold) for block in payload.said]
        return "".join(parts)

    def _block(self, block: Block, *, is_user: bool, untold: frozenset[str]) -> str:
        match block:
            case TextBlock(text=words):
                if not words.strip():
                    return ""
                return quoted(words) if is_user else safe_markdown(words)
            case ThinkingBlock(thinking=words):
                return _folded("Thinking", paragraph(words)) if words.strip() else ""
            case ToolUseBlock():
                asked = f"asks for {_name(block.tool_name)}"
                return f"{asked}\n\n{self._output(as_text(block.tool_input))}" if block.tool_id in untold else ""
            case ToolResultBlock():
                return self._output(as_text(block.tool_content)) if block.tool_id in untold else ""
            case AttachmentBlock():
                return f"{escaped(on_one_line(block_text(block)))}\n\n"
        return self._output(block_text(block))

    def call(self, event: Event, payload: ToolPayload, anchor: str, facts: CallFacts) -> tuple[str, str, str]:
        mark = " **failed**" if facts.failed else "" if facts.answered else " **no result**"
        mark += "" if facts.parallel is None else " ∥ {} of {}".format(*facts.parallel)
        told = f"🔧 {_name(payload.name or 'tool')}{mark} {escaped(on_one_line(clock(event.told_at)))}".rstrip()
        return told, f"\n\n{self._given(payload)}", ""

    def outcome(self, call: Event, payload: ToolPayload) -> str:
        figures = figures_of(call, payload)
        return f" · {escaped(on_one_line(figures))}" if figures else ""

    def _given(self, payload: ToolPayload) -> str:
        given = payload.input
        parts = [fenced(block_text(block), "sh") for block in payload.blocks or ()]
        if isinstance(given, dict):
            parts.append(self._arguments(given))
        elif given is not None:
            parts.append(self._output(as_text(given)))
        if payload.error is not None:
            parts.append(fenced(payload.error))
        return "".join(parts)

    def _arguments(self, given: dict[str, Any]) -> str:
        rest = dict(given)
        parts: list[str] = []
        for name in COMMANDS:
            command = command_of(given.get(name))
            if command is not None and says_all(command, given[name]):
                parts.append(fenced(command, "sh"))
                del rest[name]
        change = change_of(given)
        if change is not None:
            parts.append(self._output("\n".join(change_lines(change[1], change[2])), "diff"))
            rest = {name: value for name, value in rest.items() if name not in change[0]}
        long = {name: value for name, value in rest.items() if isinstance(value, str) and "\n" in value}
        short = {name: value for name, value in rest.items() if name not in long}
        shown = [fenced(indented(short), "json")] if short else []
        shown += [f"{_name(str(name))}\n\n{self._output(value)}" for name, value in long.items()]
        return "".join([*shown, *parts])

    def witness(self, event: Event, payload: ToolPayload, anchor: str) -> str:
        return _folded(f"Also told by {payload.fidelity.replace('_', ' ')}", self._given(payload))

    def result(self, event: Event, payload: ToolPayload, anchor: str, name: str, call: Event) -> str:
        return self._result(payload)

    def _result(self, payload: ToolPayload) -> str:
        shown = unwrapped(payload.output)
        output = shown.text
        parts = [f"↳{' **failed**' if payload.error is not None else ''}\n\n"]
        error = unwrapped(payload.error or "").text
        if error.strip() and error.strip() != output.strip():
            parts.append(self._output(error))
        parts += [self._output(output)] if output else []
        for block in payload.blocks or ():
            words = block_text(block)
            parts += [] if words in output else [self._output(words)]
        parts += [_folded(name, self._output(words)) for name, words in shown.more]
        parts += [f"_{escaped(on_one_line(' · '.join(shown.facts)))}_\n\n"] if shown.facts else []
        return "".join(parts)

    def stray(self, event: Event, payload: ToolPayload, anchor: str, name: str, call_anchor: str) -> str:
        return f"Result of {_name(name or payload.call_id or 'a tool')}\n\n{self._result(payload)}"

    def subagent(self, event: Event, facts: SourceFacts | None, *, continued: bool) -> tuple[str, str]:
        name = on_one_line(event.source.removeprefix("subagent:"))
        task = "" if facts is None else on_one_line(facts.task)
        told = f"Subagent {task or name}{' goes on' if continued else ''}"
        if facts is not None:
            more = (tokens(facts.usage), cost_words(facts.cost.dollars, facts.cost.is_partial))
            told += ", ".join(["", counted(facts.calls, "tool call"), *filter(None, more)])
        told += f" · {name}" if task else ""
        return f"<details><summary>{html_text(told)}</summary>\n\n", "</details>\n\n"

    def loud(self, event: Event, anchor: str) -> str:
        payload = event.payload
        if isinstance(payload, LifecyclePayload):
            return self._lifecycle(event, payload)
        if not isinstance(payload, ErrorPayload):
            return _folded(event_label(event), fenced(payload_text(payload)))
        told = f"✗ **{escaped(on_one_line(event.type))}**\n\n"
        return told + fenced(payload_text(payload))

    def _lifecycle(self, event: Event, payload: LifecyclePayload) -> str:
        mark = "▸" if event.type.endswith(".started") else "✓" if payload.error is None else "✗"
        turn = f" #{event.iteration}" if event.iteration else ""
        told = f"{mark} {_name(payload.name)}{escaped(turn)} {escaped(on_one_line(payload.kind))}".rstrip()
        child = f" calls run {escaped(on_one_line(event.child_run_id))}" if event.child_run_id else ""
        error = "" if payload.error is None else fenced(payload.error)
        result = "" if payload.result is None else self._output(as_text(payload.result))
        return f"{told}{child}\n\n{error}{result}"

    def quiet(self, event: Event, anchor: str) -> tuple[str, str]:
        payload = event.payload
        if isinstance(payload, SystemPayload):
            words = [payload.text] if payload.text is not None else []
            words += [indented(payload.data)] if payload.data is not None else []
            label = event_label(event)
            return label, f"{_name(label)} {escaped(on_one_line(payload.subtype))}\n\n{''.join(map(fenced, words))}"
        if isinstance(payload, UsagePayload):
            return event_label(event), ""
        words = [block_text(block) for block in payload.blocks] if isinstance(payload, MessagePayload) else []
        body = "\n".join(words) or payload_text(payload)
        return event_label(event), f"{_name(event.type)}\n\n{fenced(body)}"

    def asides(self, group: list[tuple[str, str]]) -> str:
        names = Counter(on_a_line(label, 60) or "event" for label, _ in group)
        told = ", ".join(name if number == 1 else f"{number} × {name}" for name, number in names.items())
        body = "".join(body for _, body in group)
        return _folded(told, body) if body else f"_{escaped(on_one_line(told))}_\n\n"

    def _output(self, output: str, language: str = "") -> str:
        shown = _STYLES.sub("", output)
        lines = shown.count("\n") + 1
        body = fenced(shown, language or ("diff" if is_patch(shown) else ""))
        return body if self._full or lines <= LONG else _folded(f"{lines:,} lines", body)


def _name(words: str) -> str:
    return f"**{escaped(on_one_line(words))}**" if words.strip() else ""


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{html_text(on_one_line(summary))}</summary>\n\n{body}</details>\n\n"
