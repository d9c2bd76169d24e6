"""How events look on the page."""

from __future__ import annotations

from stenograph.model.block import AttachmentBlock
from stenograph.model.event import Event
from stenograph.model.payload import (
    ErrorPayload,
    LifecyclePayload,
    MessagePayload,
    SystemPayload,
    ToolPayload,
    UsagePayload,
)
from stenograph.render.figures import clock, counted, duration, tokens
from stenograph.render.given import is_worth_seeing, summary_of
from stenograph.render.html.blocks import attachment, block_html, system_prompt
from stenograph.render.html.escape import line, pre, text
from stenograph.render.html.output import folded, given_html
from stenograph.render.outline import SourceFacts, UnitFacts, on_a_line
from stenograph.transcript.content import as_text, block_text, indented, payload_text

_LABEL_LENGTH = 60


class HtmlSkin:
    """Writes each thing as HTML; `full` folds no output."""

    def __init__(self, *, full: bool = False) -> None:
        self._full = full

    def unit(self, facts: UnitFacts) -> tuple[str, str]:
        anchor = f"unit-{facts.number}"
        name = f"Prompt {facts.number}" if facts.number else "Before the first prompt"
        head = (
            f'<section class="unit" id="{anchor}"><h2><a href="#{anchor}"><b>{name}</b></a>{unit_figures(facts)}</h2>\n'
        )
        return head, "</section>\n"

    def message(self, event: Event, payload: MessagePayload, anchor: str, untold: frozenset[str]) -> str:
        is_user = event.type == "message.user"
        parts = [] if payload.system_prompt is None else [system_prompt(payload.system_prompt)]
        blocks = payload.said
        parts += [block_html(each, is_prose=not is_user, full=self._full, untold=untold) for each in blocks]
        body = "".join(parts)
        if not body:
            return f'<a class="spot"{_id(anchor)}></a>\n'
        if is_user:
            who = "User" if event.source == "main" else "Task"
            return f'<article class="ev user"{_id(anchor)}>{_who(who, event, anchor)}{body}</article>\n'
        return f'<article class="ev bot"{_id(anchor)}>{_at(event, anchor)}{body}</article>\n'

    def call(
        self, event: Event, payload: ToolPayload, anchor: str, *, failed: bool, answered: bool, spawns: bool
    ) -> tuple[str, str]:
        about = summary_of(payload.input)
        marks = '<span class="no">failed</span>' if failed else "" if answered else '<span class="no">no result</span>'
        kind = "ev tool failed" if failed else "ev tool"
        opened = " open" if failed or spawns or is_worth_seeing(payload.input) or payload.blocks else ""
        head = (
            f'<details class="{kind}"{_id(anchor)}{opened}><summary><b>{line(payload.name) or "tool"}</b>'
            f'<code dir="auto">{line(about)}</code>{marks}{_at(event, anchor)}</summary><div class="body">'
        )
        return head + self._call_body(payload), "</div></details>\n"

    def _call_body(self, payload: ToolPayload) -> str:
        shown = "".join(pre(block_text(block), "command") for block in payload.blocks or ())
        error = "" if payload.error is None else pre(payload.error)
        return shown + given_html(payload.input, full=self._full) + error

    def witness(self, event: Event, payload: ToolPayload, anchor: str) -> str:
        told = "Seen by the router, too" if payload.fidelity == "router" else "Told by the agent, too"
        head = f'<details class="asides"{_id(anchor)}><summary>{told}{_at(event, anchor)}</summary>'
        return f"{head}{self._call_body(payload)}</details>"

    def result(self, event: Event, payload: ToolPayload, anchor: str, name: str) -> str:
        took = "" if payload.duration_ms is None else f"<span>{duration(payload.duration_ms / 1000)}</span>"
        failed = '<span class="no">failed</span>' if payload.error is not None else ""
        kind = "res failed" if payload.error is not None else "res"
        who = f'<div class="who">Result{failed}{took}{_at(event, anchor)}</div>'
        return f'<div class="{kind}"{_id(anchor)}>{who}{self._result_body(payload)}</div>'

    def _result_body(self, payload: ToolPayload) -> str:
        output = as_text(payload.output)
        parts: list[str] = []
        if payload.error is not None and payload.error.strip() != output.strip():
            parts.append(folded(payload.error, full=self._full))
        if output:
            parts.append(folded(output, full=self._full))
        for block in payload.blocks or ():
            if isinstance(block, AttachmentBlock):
                parts.append(attachment(block))
            elif (words := block_text(block)) and words not in output:
                parts.append(folded(words, full=self._full))
        return "".join(parts) or '<p class="empty">no output</p>'

    def stray(self, event: Event, payload: ToolPayload, anchor: str, name: str, call_anchor: str) -> str:
        of = line(name or payload.call_id) or "a tool"
        link = f'<a href="#{call_anchor}">{of}</a>' if call_anchor else of
        head = f'<div class="ev tool"{_id(anchor)}><div class="body"><div class="who">Result of {link}'
        failed = '<span class="no">failed</span>' if payload.error is not None else ""
        return f"{head}{failed}{_at(event, anchor)}</div>{self._result_body(payload)}</div></div>\n"

    def subagent(self, event: Event, facts: SourceFacts | None, *, continued: bool) -> tuple[str, str]:
        told: list[str] = []
        if facts is not None:
            told.append(counted(facts.calls, "tool call"))
            told += [] if facts.span.seconds is None else [duration(facts.span.seconds)]
        more = " goes on" if continued else ""
        name = line(event.source.removeprefix("subagent:"))
        head = f'<details class="agent"><summary><span>Subagent <bdi>{name}</bdi>{more}</span>'
        return f'{head}<small>{" · ".join(told)}</small></summary><div class="body">\n', "</div></details>\n"

    def loud(self, event: Event, anchor: str) -> str:
        payload = event.payload
        if isinstance(payload, LifecyclePayload):
            return self._lifecycle(event, payload, anchor)
        if isinstance(payload, SystemPayload):
            body = "" if payload.text is None else f'<div class="said" dir="auto">{text(payload.text)}</div>'
            fold = f'<details class="think"><summary>{line(payload.subtype)}</summary>{body}{_data(payload.data)}'
            return f'<div class="ev"{_id(anchor)}>{_at(event, anchor)}{fold}</details></div>\n'
        code = f" {payload.code}" if isinstance(payload, ErrorPayload) and payload.code else ""
        data = _data(payload.data) if isinstance(payload, ErrorPayload) else ""
        name = "Error" if event.type == "error" else event.type
        who = _who(f"{name}{code}", event, anchor)
        return f'<div class="ev error"{_id(anchor)}>{who}{pre(payload_text(payload))}{data}</div>\n'

    def _lifecycle(self, event: Event, payload: LifecyclePayload, anchor: str) -> str:
        ended = event.type.endswith(".completed")
        failed = payload.error is not None
        mark = ("✗" if failed else "✓") if ended else "▸"
        turn = f" #{event.iteration}" if event.iteration else ""
        told = [f"<b>{mark} {line(payload.name)}{turn}</b>", f"<span>{line(payload.kind)}</span>"]
        if event.path and event.path != payload.name:
            told.append(f"<code>{line(event.path)}</code>")
        if event.child_run_id:
            told.append(f"<span>calls run {line(event.child_run_id)}</span>")
        if payload.error is not None:
            told.append(f'<span class="no">{text(payload.error)}</span>')
        kind = "ev step failed" if failed else "ev step"
        row = f'<div class="{kind}"{_id(anchor)}>{"".join(told)}{_at(event, anchor)}</div>'
        result = "" if payload.result is None else folded(as_text(payload.result), full=self._full)
        return f"{row}{result}\n"

    def quiet(self, event: Event, anchor: str) -> tuple[str, str]:
        payload = event.payload
        if isinstance(payload, UsagePayload):
            label = f"{payload.input_tokens:,} tokens in, {payload.output_tokens:,} out"
            body = f"<span>{_usage(payload)}</span>"
        elif isinstance(payload, MessagePayload):
            label, body = "stream", "".join(folded(block_text(each), full=self._full) for each in payload.blocks)
        elif isinstance(payload, SystemPayload):
            words = "" if payload.text is None else folded(payload.text, full=self._full)
            label, body = payload.subtype, words + _data(payload.data)
        else:
            label, body = event.type, folded(payload_text(payload), full=self._full)
        name = "" if isinstance(payload, UsagePayload) else f"<b>{line(label) or 'event'}</b> "
        return label, f'<div class="aside"{_id(anchor)}>{_at(event, anchor)}{name}{body}</div>'

    def asides(self, group: list[tuple[str, str]]) -> str:
        names: dict[str, int] = {}
        for label, _ in group:
            name = on_a_line(label, _LABEL_LENGTH) or "event"
            names[name] = names.get(name, 0) + 1
        told = ", ".join(line(name) if number == 1 else f"{number} × {line(name)}" for name, number in names.items())
        return f'<details class="asides"><summary>{told}</summary>{"".join(body for _, body in group)}</details>\n'


def unit_figures(facts: UnitFacts) -> str:
    """What a unit took, as small print."""
    told = [f"<span>{text(clock(facts.span.started_at))}</span>"] if facts.span.started_at else []
    if facts.span.seconds:
        told.append(f"<span>{duration(facts.span.seconds)}</span>")
    if facts.calls:
        told.append(f"<span>{counted(facts.calls, 'tool call')}</span>")
    if facts.errors:
        told.append(f'<span class="no">{counted(facts.errors, "error")}</span>')
    if facts.usage.records:
        told.append(f"<span>{tokens(facts.usage)}</span>")
    return "".join(told)


def _usage(payload: UsagePayload) -> str:
    told = [f"{payload.input_tokens:,} in", f"{payload.output_tokens:,} out"]
    more = [
        (payload.cache_read_input_tokens, "read from cache"),
        (payload.cache_creation_input_tokens, "written to cache"),
        (payload.cache_creation_1h_input_tokens, "of these for an hour"),
        (payload.reasoning_output_tokens, "for reasoning"),
    ]
    told += [f"{number:,} {what}" for number, what in more if number]
    return text(" · ".join([*told, payload.scope, *filter(None, (payload.model,))]))


def _data(data: object) -> str:
    return "" if data is None else folded(indented(data), full=False)


def _id(anchor: str) -> str:
    return f' id="{anchor}"' if anchor else ""


def _who(name: str, event: Event, anchor: str) -> str:
    return f'<div class="who">{line(name)}{_at(event, anchor)}</div>'


def _at(event: Event, anchor: str) -> str:
    """The time of an event, which is also the link to it."""
    told = event.told_at
    title = line(told) or "time unknown"
    time = clock(told)
    if title != told:
        time = line(time)
    if not anchor:
        return f'<span class="at">{time}</span>' if time else ""
    return f'<a class="at" href="#{anchor}" title="{title}">{time or "#"}</a>'
