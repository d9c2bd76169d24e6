"""Calls that are shown as something other than arguments: checklists, questions, plans."""

from __future__ import annotations

from typing import Any

from stenograph.fold.actions import PLAN, QUESTION, TODO
from stenograph.render.answers import answers_of
from stenograph.render.html.escape import line, text
from stenograph.render.html.highlight import Highlighter
from stenograph.render.html.prose import prose

_ITEM_TEXTS = ("content", "step", "description", "subject", "title", "text")
_PLANS = ("plan", "content", "summary")
_MARKS = {"completed": "☑", "done": "☑", "in_progress": "◐", "inProgress": "◐", "cancelled": "☒"}


def card(
    kind: str, tool_input: Any, highlighter: Highlighter, answer: Any = None, before: dict[str, str] | None = None
) -> tuple[str, Any]:
    """The card of a call by its kind, and the rest of its input; "" where there is no card.

    `answer` is the result of a question; `before` are the states of the previous checklist, by the texts of its items.
    """
    if not isinstance(tool_input, dict):
        return "", tool_input
    if kind == TODO:
        return _checklist(tool_input, before)
    if kind == QUESTION:
        return _questions(tool_input, answer)
    if kind == PLAN:
        return _plan(tool_input, highlighter)
    return "", tool_input


def states_of(tool_input: Any) -> dict[str, str]:
    """The states of a checklist, by the texts of its items; none where the input is not a checklist."""
    for items in tool_input.values() if isinstance(tool_input, dict) else ():
        if isinstance(items, list) and items and all(map(_is_todo, items)):
            return {_text_of(item)[1]: item["status"] for item in items}
    return {}


def _checklist(tool_input: dict[str, Any], before: dict[str, str] | None) -> tuple[str, Any]:
    for name, items in tool_input.items():
        if isinstance(items, list) and items and all(map(_is_todo, items)):
            shown = "".join(_todo(item, before) for item in items)
            rest = [kept for item in items if (kept := _without(item, (_text_of(item)[0], "status", "activeForm")))]
            others = _without(tool_input, (name,)) | ({name: rest} if rest else {})
            return f'<ul class="todo">{shown}</ul>', others
    return "", tool_input


def _is_todo(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("status"), str) and bool(_text_of(item)[0])


def _todo(item: dict[str, Any], before: dict[str, str] | None) -> str:
    status = item["status"]
    was = None if before is None else before.get(_text_of(item)[1], "new")
    mark = _MARKS.get(status, "☐")
    active = item.get("activeForm")
    hint = f' title="{line(active)}"' if isinstance(active, str) and active else ""
    kind = "done" if mark == "☑" else "doing" if mark == "◐" else "open"
    notes = "" if status in ("completed", "pending", "in_progress") else f" <small>{line(status)}</small>"
    if was is not None and was != status:
        change = "new" if was == "new" else f"was {was.replace('_', ' ')}"
        notes += f' <small class="change">{line(change)}</small>'
    return f'<li class="{kind}"{hint} dir="auto">{mark} {text(_text_of(item)[1])}{notes}</li>'


def _text_of(item: dict[str, Any]) -> tuple[str, str]:
    found = ((name, item[name]) for name in _ITEM_TEXTS if isinstance(item.get(name), str))
    return next(found, ("", ""))


def _questions(tool_input: dict[str, Any], answer: Any) -> tuple[str, Any]:
    asked = tool_input.get("questions")
    if isinstance(asked, list) and asked and all(isinstance(each, dict) and _asks(each) for each in asked):
        rest = [kept for each in asked if (kept := _without(each, ("question", "header", "options")))]
        shown = "".join(map(_question, asked, answers_of(asked, answer)))
        return shown, _without(tool_input, ("questions",)) | ({"questions": rest} if rest else {})
    if _asks(tool_input):
        return _question(tool_input, answers_of([tool_input], answer)[0]), _without(
            tool_input, ("question", "header", "options")
        )
    return "", tool_input


def _asks(each: dict[str, Any]) -> bool:
    options = each.get("options", [])
    is_list = isinstance(options, list) and all(isinstance(option, str) or _is_option(option) for option in options)
    return isinstance(each.get("question"), str) and isinstance(each.get("header", ""), str) and is_list


def _is_option(option: Any) -> bool:
    return isinstance(option, dict) and all(isinstance(value, str) for value in option.values())


def _question(each: dict[str, Any], chosen: tuple[str, ...]) -> str:
    head = f"<small>{line(each['header'])}</small> " if each.get("header") else ""
    labels = [_label(option) for option in each.get("options", [])]
    marked = {label for label in labels if label in chosen or label in _several(chosen, labels)}
    options = "".join(_option(option, is_chosen=_label(option) in marked) for option in each.get("options", []))
    listed = f"<ul>{options}</ul>" if options else ""
    typed = [] if marked else [answer for answer in chosen if answer.strip()]
    typed_html = "".join(f'<p class="chosen" dir="auto">{_CHOSEN} {text(answer)}</p>' for answer in typed)
    asked = f'<p dir="auto">{head}<strong>{text(each["question"])}</strong></p>'
    return f'<div class="question">{asked}{listed}{typed_html}</div>'


_CHOSEN = '<span aria-hidden="true">☑</span><span class="unseen">chosen:</span>'


def _several(chosen: tuple[str, ...], labels: list[str]) -> set[str]:
    """The options that one answer names, joined by commas."""
    parts = {part.strip() for answer in chosen for part in answer.split(",")}
    return parts if parts and parts <= set(labels) else set()


def _label(option: str | dict[str, str]) -> str:
    return option if isinstance(option, str) else option.get("label", "")


def _option(option: str | dict[str, str], *, is_chosen: bool) -> str:
    more = ""
    if isinstance(option, dict):
        more = f" <small>{' '.join(text(value) for name, value in option.items() if name != 'label')}</small>"
    kind, mark = (' class="chosen"', f"{_CHOSEN} ") if is_chosen else ("", "")
    return f'<li{kind} dir="auto">{mark}{text(_label(option))}{more}</li>'


def _plan(tool_input: dict[str, Any], highlighter: Highlighter) -> tuple[str, Any]:
    for name in _PLANS:
        if isinstance(tool_input.get(name), str) and tool_input[name].strip():
            return f'<div class="md plan">{prose(tool_input[name], highlighter)}</div>', _without(tool_input, (name,))
    return "", tool_input


def _without(tool_input: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in tool_input.items() if name not in names}
