"""Writes events as HTML."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from stenograph.fold.actions import EDIT, OTHER, QUESTION, READ, SUBAGENT, TODO, WRITE, Action, action, tool_of
from stenograph.model.block import AttachmentBlock, Block
from stenograph.model.event import Event
from stenograph.model.payload import (
    ErrorPayload,
    LifecyclePayload,
    MessagePayload,
    SystemPayload,
    ToolPayload,
    UsagePayload,
)
from stenograph.render.brief import figures_of, first_line
from stenograph.render.figures import clock, cost_words, counted, duration, tokens
from stenograph.render.html.blocks import PREVIEW_LENGTH, attachment, block_html, system_prompt
from stenograph.render.html.cards import card, states_of
from stenograph.render.html.escape import line, pre, text
from stenograph.render.html.highlight import Highlighter
from stenograph.render.html.output import folded, input_html, listing
from stenograph.render.names import LABEL_LENGTH, event_label
from stenograph.render.page_facts import SourceFacts, UnitFacts, on_a_line
from stenograph.render.page_writer import CallFacts
from stenograph.render.tool_input import SUMMARY_LENGTH, path_of, summary_of, task_of
from stenograph.render.unwrapped import unwrapped
from stenograph.transcript.content import as_text, block_text, indented, payload_text

WORTH_SECONDS = 60
"""Shorter pauses between prompts are not shown."""
_EXIT_CODE = re.compile(r"exit code (-?\d{1,10})", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII)


class HtmlPageWriter:
    """Writes each part of a page as HTML; `full` folds no output."""

    def __init__(self, *, full: bool = False) -> None:
        self._full = full
        self._highlighter = Highlighter()
        self._checklists: dict[tuple[str, str], dict[str, str]] = {}
        """By run and source, the states of its last checklist."""

    def unit(self, facts: UnitFacts) -> tuple[str, str]:
        anchor = f"unit-{facts.number}"
        name = f"Prompt {facts.number}" if facts.number else "Before the first prompt"
        head = (
            f'<section class="unit" id="{anchor}"><h2><a href="#{anchor}"><b>{name}</b></a>{unit_figures(facts)}</h2>\n'
        )
        return head, "</section>\n"

    def message(self, event: Event, payload: MessagePayload, anchor: str, orphans: frozenset[str]) -> str:
        is_user = event.type == "message.user"
        parts = [] if payload.system_prompt is None else [system_prompt(payload.system_prompt)]
        parts += [self._block(each, is_user=is_user, orphans=orphans) for each in payload.said]
        body = "".join(parts)
        if not body:
            return f'<a class="spot"{_id(anchor)}></a>\n'
        if is_user:
            who = "User" if event.source == "main" else "Task"
            return f'<article class="ev user"{_id(anchor)}>{_who(who, event, anchor)}{body}</article>\n'
        return f'<article class="ev bot"{_id(anchor)}>{_at(event, anchor)}{body}</article>\n'

    def _block(self, block: Block, *, is_user: bool, orphans: frozenset[str]) -> str:
        return block_html(block, is_user=is_user, full=self._full, orphans=orphans, highlighter=self._highlighter)

    def call(self, event: Event, payload: ToolPayload, anchor: str, facts: CallFacts) -> tuple[str, str, str]:
        done = action(event)
        about = _about(done, payload.input)
        marks = "" if facts.parallel is None else '<small class="par">∥ {} of {}</small>'.format(*facts.parallel)
        marks += _counts(done)
        if facts.failed:
            marks += '<span class="no">failed</span>'
        elif not facts.answered:
            marks += '<span class="no">no result</span>'
        before = None
        if done.kind == TODO:
            before = self._checklists.get((event.run_id, event.source))
            self._checklists[event.run_id, event.source] = states_of(payload.input)
        seen, body = self._call_body(payload, about, done.kind, facts.answer, before)
        is_open = facts.failed or facts.spawns or done.kind in (WRITE, EDIT) or seen or payload.blocks
        head = (
            f'<details class="ev tool {done.kind}{" failed" if facts.failed else ""}"{_id(anchor)}'
            f"{' open' if is_open else ''}><summary><b>{line(payload.name) or 'tool'}</b>"
            f'<code dir="auto">{line(about)}</code>{marks}'
        )
        return head, f'{_at(event, anchor)}</summary><div class="body">{seen}{body}', "</div></details>\n"

    def _call_body(
        self,
        payload: ToolPayload,
        about: str = "",
        kind: str = OTHER,
        answer: Any = None,
        before: dict[str, str] | None = None,
    ) -> tuple[str, str]:
        """A call's input: as a card where there is one, and the rest of the input."""
        shown = "".join(pre(block_text(block), "command") for block in payload.blocks or ())
        seen, rest = card(kind, payload.input, self._highlighter, answer, before)
        error = "" if payload.error is None else pre(payload.error)
        arguments = input_html(rest, full=self._full, shown=about, highlighter=self._highlighter)
        return seen, shown + arguments + error

    def outcome(self, call: Event, payload: ToolPayload) -> str:
        says, figures = first_line(call, payload), figures_of(call, payload)
        mark = "✗" if payload.error is not None else "" if figures.startswith("exit") else "✓"
        out = f'<span class="out" dir="auto">{line(says)}</span>' if says else ""
        return f'{out}<small class="took">{line(f"{mark} {figures}".strip())}</small>'

    def other_report(self, event: Event, payload: ToolPayload, anchor: str) -> str:
        label = "Also recorded by the router" if payload.fidelity == "router" else "Also reported by the agent"
        head = f'<details class="witness"{_id(anchor)}><summary>{label}{_at(event, anchor)}</summary>'
        return f"{head}{''.join(self._call_body(payload))}</details>"

    def result(self, event: Event, payload: ToolPayload, anchor: str, name: str, call: Event) -> str:
        kind = "res failed" if payload.error is not None else "res"
        path = (
            path_of(call.payload.input) if tool_of(call).kind == READ and isinstance(call.payload, ToolPayload) else ""
        )
        body = self._result_body(payload, path, call)
        if tool_of(call).kind == QUESTION and payload.error is None:  # its card shows the answer
            body = f'<details class="raw"><summary>the recorded answer</summary>{body}</details>'
        return f'<div class="{kind}"{_id(anchor)}>{_at(event, anchor)}{body}</div>'

    def _result_body(self, payload: ToolPayload, path: str = "", call: Event | None = None) -> str:
        shown = unwrapped(payload.output)
        output = shown.text
        parts: list[str] = []
        error = unwrapped(payload.error or "").text
        if error.strip() and error.strip() != output.strip() and not _is_exit_code(error, call, payload):
            parts.append(folded(error, full=self._full))
        if output:
            file = listing(output, path, self._highlighter, full=self._full) if path else None
            parts.append(folded(output, full=self._full) if file is None else file)
        for block in payload.blocks or ():
            if isinstance(block, AttachmentBlock):
                parts.append(attachment(block))
            elif (words := block_text(block)) and words not in output:
                parts.append(folded(words, full=self._full))
        parts += [
            f'<details class="more"><summary>{line(name)}</summary>{folded(words, full=True)}</details>'
            for name, words in shown.more
        ]
        body = "".join(parts) or '<p class="empty">no output</p>'
        return body + (f'<p class="args">{line(" · ".join(shown.facts))}</p>' if shown.facts else "")

    def stray(self, event: Event, payload: ToolPayload, anchor: str, name: str, call_anchor: str) -> str:
        of = line(name or payload.call_id) or "a tool"
        link = f'<a href="#{call_anchor}">{of}</a>' if call_anchor else of
        head = f'<div class="ev tool"{_id(anchor)}><div class="body"><div class="who">Result of {link}'
        failed = '<span class="no">failed</span>' if payload.error is not None else ""
        return f"{head}{failed}{_at(event, anchor)}</div>{self._result_body(payload)}</div></div>\n"

    def subagent(self, event: Event, facts: SourceFacts | None, *, continued: bool) -> tuple[str, str]:
        parts: list[str] = []
        if facts is not None:
            parts.append(counted(facts.calls, "tool call"))
            parts += [] if facts.span.seconds is None else [duration(facts.span.seconds)]
            parts += filter(None, (tokens(facts.usage), cost_words(facts.cost.dollars, facts.cost.is_partial)))
        more = " continues" if continued else ""
        name = line(event.source.removeprefix("subagent:"))
        task = "" if facts is None else facts.task
        if task:
            parts.append(f"<bdi>{name}</bdi>")
        head = f'<details class="agent"><summary><span>Subagent <bdi>{line(task) or name}</bdi>{more}</span>'
        return f'{head}<small>{" · ".join(parts)}</small></summary><div class="body">\n', "</div></details>\n"

    def notice(self, event: Event, anchor: str) -> str:
        payload = event.payload
        if isinstance(payload, LifecyclePayload):
            return self._lifecycle(event, payload, anchor)
        if not isinstance(payload, ErrorPayload):
            return self._system_notice(event, anchor)
        code = f" {payload.code}" if payload.code else ""
        who = _who(f"Error{code}", event, anchor)
        return f'<div class="ev error"{_id(anchor)}>{who}{pre(payload.message)}{_data(payload.data)}</div>\n'

    def _system_notice(self, event: Event, anchor: str) -> str:
        payload = event.payload
        words = payload.text if isinstance(payload, SystemPayload) else payload_text(payload)
        data = _data(payload.data) if isinstance(payload, SystemPayload) else ""
        body = "" if words is None else folded(words, full=self._full)
        says = "" if not words else f"<small>{line(on_a_line(words, PREVIEW_LENGTH))}</small>"
        fold = f'<details class="notice"><summary>{line(event_label(event))} {says}</summary>{body}{data}</details>'
        return f'<div class="ev"{_id(anchor)}>{_at(event, anchor)}{fold}</div>\n'

    def _lifecycle(self, event: Event, payload: LifecyclePayload, anchor: str) -> str:
        ended = event.type.endswith(".completed")
        failed = payload.error is not None
        mark = ("✗" if failed else "✓") if ended else "▸"
        turn = f" #{event.iteration}" if event.iteration else ""
        parts = [f"<b>{mark} {line(payload.name)}{turn}</b>", f"<span>{line(payload.kind)}</span>"]
        if event.path and event.path != payload.name:
            parts.append(f"<code>{line(event.path)}</code>")
        if event.child_run_id:
            parts.append(f"<span>calls run {line(event.child_run_id)}</span>")
        if payload.error is not None:
            parts.append(f'<span class="no">{text(payload.error)}</span>')
        kind = "ev step failed" if failed else "ev step"
        row = f'<div class="{kind}"{_id(anchor)}>{"".join(parts)}{_at(event, anchor)}</div>'
        result = "" if payload.result is None else folded(as_text(payload.result), full=self._full)
        return f"{row}{result}\n"

    def aside(self, event: Event, anchor: str) -> tuple[str, str]:
        payload = event.payload
        if isinstance(payload, UsagePayload):
            body = f"<span>{_usage(payload)}</span>"
        elif isinstance(payload, MessagePayload):
            body = "".join(folded(block_text(each), full=self._full) for each in payload.blocks)
        elif isinstance(payload, SystemPayload):
            words = "" if payload.text is None else folded(payload.text, full=self._full)
            body = f"<code>{line(payload.subtype)}</code>{words}{_data(payload.data)}"
        else:
            body = folded(payload_text(payload), full=self._full)
        label = event_label(event)
        name = "" if isinstance(payload, UsagePayload) else f"<b>{line(label)}</b> "
        return label, f'<div class="aside"{_id(anchor)}>{_at(event, anchor)}{name}{body}</div>'

    def asides(self, group: list[tuple[str, str]]) -> str:
        names = Counter(on_a_line(label, LABEL_LENGTH) for label, _ in group)
        parts = ", ".join(line(name) if number == 1 else f"{number} × {line(name)}" for name, number in names.items())
        return f'<details class="asides"><summary>{parts}</summary>{"".join(body for _, body in group)}</details>\n'


def _is_exit_code(error: str, call: Event | None, payload: ToolPayload) -> bool:
    """Whether an error is only the exit code, which is in the head of the call."""
    found = _EXIT_CODE.fullmatch(error.strip())
    return found is not None and call is not None and figures_of(call, payload).startswith(f"exit {found[1]}")


def unit_figures(facts: UnitFacts) -> str:
    """The figures of a unit, as small print."""
    parts = [f"<span>{_time(facts.span.started_at)}</span>"] if facts.span.started_at else []
    if facts.idle is not None and facts.idle >= WORTH_SECONDS:
        parts.append(f'<span class="idle">{duration(facts.idle)} later</span>')
    if facts.span.seconds:
        parts.append(f"<span>{duration(facts.span.seconds)}</span>")
    if facts.calls:
        parts.append(f"<span>{counted(facts.calls, 'tool call')}</span>")
    if facts.errors:
        parts.append(f'<span class="no">{counted(facts.errors, "error")}</span>')
    if facts.usage.records:
        parts.append(f"<span>{tokens(facts.usage)}</span>")
    if paid := cost_words(facts.cost.dollars, facts.cost.is_partial):
        parts.append(f'<span class="cost">{line(paid)}</span>')
    return "".join(parts)


def _about(done: Action, tool_input: Any) -> str:
    """What a call is about, on one line: its files or command, where its format knows them, else what tells most."""
    if done.paths and (done.changes or done.kind == READ):
        return on_a_line(", ".join(done.paths), SUMMARY_LENGTH)
    if done.command:
        return on_a_line(done.command, SUMMARY_LENGTH)
    summary = summary_of(tool_input)
    return summary or task_of(tool_input) if done.kind == SUBAGENT else summary


def _counts(done: Action) -> str:
    """How many lines a call adds and removes."""
    if not done.changes:
        return ""
    added, removed = (sum(numbers) for numbers in zip(*(change.lines for change in done.changes), strict=True))
    return f'<small class="lines"><span class="plus">+{added:,}</span> <span class="minus">−{removed:,}</span></small>'


def _usage(payload: UsagePayload) -> str:
    parts = [f"{payload.input_tokens:,} in", f"{payload.output_tokens:,} out"]
    more = [
        (payload.cache_read_input_tokens, "read from cache"),
        (payload.cache_creation_input_tokens, "written to cache"),
        (payload.cache_creation_1h_input_tokens, "of these for an hour"),
        (payload.reasoning_output_tokens, "for reasoning"),
    ]
    parts += [f"{number:,} {what}" for number, what in more if number]
    return text(" · ".join([*parts, payload.scope, *filter(None, (payload.model,))]))


def _data(data: object) -> str:
    return "" if data is None else folded(indented(data), full=False)


def _id(anchor: str) -> str:
    return f' id="{anchor}"' if anchor else ""


def _who(name: str, event: Event, anchor: str) -> str:
    return f'<div class="who">{line(name)}{_at(event, anchor)}</div>'


def _at(event: Event, anchor: str) -> str:
    """The time of an event, which is also the link to it."""
    timestamp = event.told_at
    time = _time(timestamp)
    if not anchor:
        return f'<span class="at">{time}</span>' if time else ""
    return f'<a class="at" href="#{anchor}" title="{line(timestamp) or "time unknown"}">{time or "#"}</a>'


def _time(timestamp: str) -> str:
    """A time of day; where the timestamp is a moment, a script can make it local."""
    shown = line(clock(timestamp))
    return f'<time datetime="{timestamp}">{shown}</time>' if _MOMENT.fullmatch(timestamp) else shown
