"""A run as Markdown, readable on GitHub: one heading per unit, thinking and outputs folded, all content contained.

Everything from the transcript is data. Typed text is escaped, tool outputs are in fences longer than any
fence inside, and the agent's text stays Markdown without HTML, headings, images and unclosed fences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from stenograph.fold.actions import command_of
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
from stenograph.render.control_chars import on_one_line
from stenograph.render.figures import clock, cost, cost_words, counted, day, duration, tokens
from stenograph.render.first_pass import page_facts_of
from stenograph.render.layout import PageLayout
from stenograph.render.markdown_text import escaped, fenced, html_text, paragraph, quoted, safe_markdown
from stenograph.render.names import event_label
from stenograph.render.page_facts import PageFacts, SourceFacts, UnitFacts, on_a_line
from stenograph.render.page_writer import CallFacts
from stenograph.render.tool_input import COMMANDS, change_lines, change_of, is_patch, says_all
from stenograph.render.two_pass import TwoPass
from stenograph.render.unwrapped import unwrapped
from stenograph.transcript.content import as_text, block_text, indented, payload_text

LONG = 20
"""Lines beyond which an output is folded."""
_STYLES = re.compile(r"\x1b\[[0-9;:]{0,80}m")
"""Terminal colours, which Markdown does not have."""


def markdown_page(
    read: Callable[[], Iterable[Event]], *, full: bool = False, prices: Prices | None = None, life: Life | None = None
) -> Iterator[str]:
    """The page of a run, piece by piece.

    `read` returns the events of the run, from the first on, each time it is called. `full` folds no output.
    `life` is what is known about its process; without it the page shows no status.
    """
    events = TwoPass(read)
    facts = page_facts_of(events, prices, life)
    yield _head(facts)
    yield from PageLayout(facts, MarkdownPageWriter(full=full)).text(events)


def _head(facts: PageFacts) -> str:
    seconds = facts.span.seconds
    shown = [
        ("Agent", ", ".join((*facts.agent_names, *facts.models))),
        ("Folder", facts.cwd or ""),
        ("When", day(facts.span.started_at)),
        ("Duration", duration(seconds) if seconds else ""),
        ("Status", facts.status),
        *facts.counts,
        ("Errors", f"{facts.totals.errors:,}" if facts.totals.errors else ""),
        ("Tokens", tokens(facts.totals.tokens)),
        ("Cost", cost(facts.cost.dollars, facts.cost.is_partial)),
        ("Run", facts.run_id),
    ]
    rows = "".join(f"- {name}: {escaped(on_one_line(value))}\n" for name, value in shown if value)
    return f"# {escaped(on_one_line(facts.title))}\n\n{rows}\n"


class MarkdownPageWriter:
    """Writes each part of a page as Markdown; every piece ends in an empty line."""

    def __init__(self, *, full: bool = False) -> None:
        self._full = full

    def unit(self, facts: UnitFacts) -> tuple[str, str]:
        number = f"{facts.number}. " if facts.number else ""
        title = facts.title or (f"Prompt {facts.number}" if facts.number else "Before the first prompt")
        parts = [clock(facts.span.started_at)] if facts.span.started_at else []
        parts += [duration(facts.span.seconds)] if facts.span.seconds else []
        parts += [counted(facts.calls, "tool call")] if facts.calls else []
        parts += [counted(facts.errors, "error")] if facts.errors else []
        parts += [tokens(facts.usage)] if facts.usage.records else []
        parts += [paid] if (paid := cost_words(facts.cost.dollars, facts.cost.is_partial)) else []
        small = f"_{escaped(on_one_line(' · '.join(parts)))}_\n\n" if parts else ""
        return f"## {number}{escaped(on_one_line(title))}\n\n{small}", ""

    def message(self, event: Event, payload: MessagePayload, anchor: str, orphans: frozenset[str]) -> str:
        is_user = event.type == "message.user"
        parts = [] if payload.system_prompt is None else [_folded("System prompt", fenced(payload.system_prompt))]
        parts += [self._block(block, is_user=is_user, orphans=orphans) for block in payload.said]
        return "".join(parts)

    def _block(self, block: Block, *, is_user: bool, orphans: frozenset[str]) -> str:
        match block:
            case TextBlock(text=words):
                if not words.strip():
                    return ""
                return quoted(words) if is_user else safe_markdown(words)
            case ThinkingBlock(thinking=words):
                return _folded("Thinking", paragraph(words)) if words.strip() else ""
            case ToolUseBlock():
                asked = f"asks for {_name(block.tool_name)}"
                return f"{asked}\n\n{self._output(as_text(block.tool_input))}" if block.tool_id in orphans else ""
            case ToolResultBlock():
                return self._output(as_text(block.tool_content)) if block.tool_id in orphans else ""
            case AttachmentBlock():
                return f"{escaped(on_one_line(block_text(block)))}\n\n"
        return self._output(block_text(block))

    def call(self, event: Event, payload: ToolPayload, anchor: str, facts: CallFacts) -> tuple[str, str, str]:
        mark = " **failed**" if facts.failed else "" if facts.answered else " **no result**"
        mark += "" if facts.parallel is None else " ∥ {} of {}".format(*facts.parallel)
        head = f"🔧 {_name(payload.name or 'tool')}{mark} {escaped(on_one_line(clock(event.told_at)))}".rstrip()
        return head, f"\n\n{self._input(payload)}", ""

    def outcome(self, call: Event, payload: ToolPayload) -> str:
        figures = figures_of(call, payload)
        return f" · {escaped(on_one_line(figures))}" if figures else ""

    def _input(self, payload: ToolPayload) -> str:
        tool_input = payload.input
        parts = [fenced(block_text(block), "sh") for block in payload.blocks or ()]
        if isinstance(tool_input, dict):
            parts.append(self._arguments(tool_input))
        elif tool_input is not None:
            parts.append(self._output(as_text(tool_input)))
        if payload.error is not None:
            parts.append(fenced(payload.error))
        return "".join(parts)

    def _arguments(self, tool_input: dict[str, Any]) -> str:
        rest = dict(tool_input)
        parts: list[str] = []
        for name in COMMANDS:
            command = command_of(tool_input.get(name))
            if command is not None and says_all(command, tool_input[name]):
                parts.append(fenced(command, "sh"))
                del rest[name]
        change = change_of(tool_input)
        if change is not None:
            parts.append(self._output("\n".join(change_lines(change[1], change[2])), "diff"))
            rest = {name: value for name, value in rest.items() if name not in change[0]}
        long = {name: value for name, value in rest.items() if isinstance(value, str) and "\n" in value}
        short = {name: value for name, value in rest.items() if name not in long}
        shown = [fenced(indented(short), "json")] if short else []
        shown += [f"{_name(str(name))}\n\n{self._output(value)}" for name, value in long.items()]
        return "".join([*shown, *parts])

    def other_report(self, event: Event, payload: ToolPayload, anchor: str) -> str:
        return _folded(f"Also reported by {payload.fidelity.replace('_', ' ')}", self._input(payload))

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
        head = f"Subagent {task or name}{' continues' if continued else ''}"
        if facts is not None:
            more = (tokens(facts.usage), cost_words(facts.cost.dollars, facts.cost.is_partial))
            head += ", ".join(["", counted(facts.calls, "tool call"), *filter(None, more)])
        head += f" · {name}" if task else ""
        return f"<details><summary>{html_text(head)}</summary>\n\n", "</details>\n\n"

    def notice(self, event: Event, anchor: str) -> str:
        payload = event.payload
        if isinstance(payload, LifecyclePayload):
            return self._lifecycle(event, payload)
        if not isinstance(payload, ErrorPayload):
            return _folded(event_label(event), fenced(payload_text(payload)))
        head = f"✗ **{escaped(on_one_line(event.type))}**\n\n"
        return head + fenced(payload_text(payload))

    def _lifecycle(self, event: Event, payload: LifecyclePayload) -> str:
        mark = "▸" if event.type.endswith(".started") else "✓" if payload.error is None else "✗"
        turn = f" #{event.iteration}" if event.iteration else ""
        head = f"{mark} {_name(payload.name)}{escaped(turn)} {escaped(on_one_line(payload.kind))}".rstrip()
        child = f" calls run {escaped(on_one_line(event.child_run_id))}" if event.child_run_id else ""
        error = "" if payload.error is None else fenced(payload.error)
        result = "" if payload.result is None else self._output(as_text(payload.result))
        return f"{head}{child}\n\n{error}{result}"

    def aside(self, event: Event, anchor: str) -> tuple[str, str]:
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
        summary = ", ".join(name if number == 1 else f"{number} × {name}" for name, number in names.items())
        body = "".join(body for _, body in group)
        return _folded(summary, body) if body else f"_{escaped(on_one_line(summary))}_\n\n"

    def _output(self, output: str, language: str = "") -> str:
        shown = _STYLES.sub("", output)
        lines = shown.count("\n") + 1
        body = fenced(shown, language or ("diff" if is_patch(shown) else ""))
        return body if self._full or lines <= LONG else _folded(f"{lines:,} lines", body)


def _name(words: str) -> str:
    return f"**{escaped(on_one_line(words))}**" if words.strip() else ""


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{html_text(on_one_line(summary))}</summary>\n\n{body}</details>\n\n"
