"""What a person sees in a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from stenograph.model import (
    ErrorPayload,
    Event,
    LifecyclePayload,
    MessagePayload,
    Origin,
    SystemPayload,
    TextBlock,
    ThinkingBlock,
    ToolPayload,
    UnknownPayload,
    UsagePayload,
)
from stenograph.render.control_chars import on_one_line, visible
from stenograph.render.terminal import DEEPEST_INDENT, LONG_OUTPUT, TerminalRenderer


def _event(type: str, payload: Any, path: str = "", **fields: Any) -> Event:
    given: dict[str, Any] = {"seq": 1, "run_id": "r-1", "iteration": 0, "timestamp": "2026-06-08T08:00:00Z"} | fields
    return Event(type=type, path=path, payload=payload, **given)


def _said(text: str, **fields: Any) -> Event:
    block = TextBlock(fidelity="router", text=text)
    return _event("message.assistant", MessagePayload(role="assistant", blocks=(block,)), **fields)


def _called(input: Any, name: str = "Read") -> Event:
    payload = ToolPayload(name=name, call_id="c", input=input, output=None, fidelity="router")
    return _event("tool.call", payload)


def _answered(output: Any, error: str | None = None) -> Event:
    payload = ToolPayload(name="Read", call_id="c", input=None, output=output, error=error, fidelity="router")
    return _event("tool.result", payload)


def _step(type: str, name: str, path: str, **fields: Any) -> Event:
    payload = LifecyclePayload(name=name, kind="agent", error=fields.pop("error", None))
    return _event(type, payload, path, **fields)


def _shown(event: Event, **options: bool) -> str:
    return TerminalRenderer(color=False, **options).render(event)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 漢字 👩‍👩‍👧\tx\ny", "plain 漢字 👩‍👩‍👧\tx\ny"),
        ("a\r\nb", "a\nb"),
        ("over\rwritten", "over␍written"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x00\x07\x08", "␀␇␈"),
        ("\x7f\x9b31m\x85", "\\x7f\\x9b31m\\x85"),
        ("\u202egnp.exe\u2066", "\\u202egnp.exe\\u2066"),
        ("\ufeff\ud800", "\\ufeff\\ud800"),
    ],
    ids=ascii,
)
def test_controls_are_shown_not_obeyed(text: str, shown: str) -> None:
    """Control pictures for C0, escapes for the rest; newlines and tabs stay."""
    assert visible(text) == shown


def test_a_line_break_in_a_name_is_shown() -> None:
    """A name can never look like a line of ours."""
    assert on_one_line("fix\r\n✓ all tests pass\n") == "fix␊✓ all tests pass␊"


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (_step("run.started", "demo", ""), "━━ demo run r-1 2026-06-08T08:00:00Z\n"),
        (_step("run.completed", "demo", ""), "✓ demo\n"),
        (_step("run.completed", "demo", "", error="ValueError: boom"), "✗ demo: ValueError: boom\n"),
        (_step("step.started", "review", "review"), "▸ review agent\n"),
        (_step("step.started", "fix", "review.fix", iteration=2), "  ▸ fix #2 agent\n"),
        (_step("step.completed", "fix", "review.fix", iteration=2), "  ✓ fix #2\n"),
        (_step("step.call_workflow.started", "lint", "lint", child_run_id="r-2"), "▸ lint calls run r-2\n"),
        (_step("step.call_workflow.started", "lint", "lint"), "▸ lint calls run ?\n"),
        (_said("Hello\nthere"), "🤖 Hello\n   there\n"),
        (_said("Hello\nthere", path="a.b"), "    🤖 Hello\n       there\n"),
        (_said("hi", origin=Origin(source="subagent:a")), "🤖 subagent:a hi\n"),
        (_called({"path": "main.go"}), "🔧 Read main.go\n"),
        (_called({"path": "a", "limit": 5}), '🔧 Read { "path": "a", "limit": 5 }\n'),
        (_called({}), "🔧 Read {}\n"),
        (_answered("package main\n"), "  ↳ package main\n"),
        (_answered("no", error="exit status 1"), "  ↳ failed: exit status 1 · no\n"),
        (_answered(None, error="exit status 1"), "  ↳ failed: exit status 1\n"),
        (_answered(None), "  ↳\n"),
        (_event("system.event", SystemPayload(subtype="compaction", text="short")), "⚙️ compaction: short\n"),
        (_event("token.usage", UsagePayload(scope="call", input_tokens=2, output_tokens=1)), "Σ 2 in, 1 out\n"),
        (_event("error", ErrorPayload(message="Overloaded")), "✗ Overloaded\n"),
        (_event("unknown", UnknownPayload(text="Segmentation fault")), "? Segmentation fault\n"),
        (_event("memory.saved", [1]), "? memory.saved: [\n     1\n   ]\n"),
        (_event("step.started", None, "a"), "⚙️ step.started:\n"),
    ],
)
def test_each_kind_of_event(event: Event, shown: str) -> None:
    """A mark, who or what, and the content, indented by the step it stands in."""
    assert _shown(event) == shown


def test_a_message_may_be_several_entries_or_none() -> None:
    """Thinking and text are two; a system prompt is named; a message with nothing to say shows nothing."""
    thought = ThinkingBlock(fidelity="router", thinking="hm")
    text = TextBlock(fidelity="router", text="hi")
    answer = MessagePayload(role="assistant", blocks=(thought, text))
    assert _shown(_event("message.assistant", answer)) == "💭 hm\n🤖 hi\n"
    prompt = MessagePayload(role="user", blocks=(text,), system_prompt="be kind")
    assert _shown(_event("message.user", prompt)) == "👤 system prompt: be kind\n👤 hi\n"
    assert _shown(_event("message.assistant", MessagePayload(role="assistant", blocks=()))) == ""


def test_long_output_is_cut_and_says_so() -> None:
    """The first lines, how many are hidden, and how to see them; `full` shows all, and messages are never cut."""
    output = "\n".join(map(str, range(LONG_OUTPUT + 12)))
    shown = _shown(_answered(output))
    assert shown.count("\n") == LONG_OUTPUT + 1
    assert shown.endswith("   … 12 more lines (--full shows them)\n")
    assert _shown(_answered(output), full=True).count("\n") == LONG_OUTPUT + 12
    assert _shown(_said(output)).count("\n") == LONG_OUTPUT + 12


@pytest.mark.parametrize("event_type", ["run.started", "step.started", "step.call_workflow.started", "run.completed"])
def test_no_field_of_a_lifecycle_event_is_obeyed(event_type: str) -> None:
    """Run ids and timestamps come from files, too, and so do names, kinds and errors."""
    evil = "x\x1b[2J\n\u202e\x9b"
    payload = LifecyclePayload(name=evil, kind=evil, error=evil)
    event = _event(event_type, payload, run_id=evil, timestamp=evil, child_run_id=evil)
    for color in (True, False):
        shown = TerminalRenderer(color=color).render(event)
        assert "\x1b[2J" not in shown
        assert not set("\u202e\x9b") & set(shown)
    assert shown.count("\n") == (2 if event_type == "run.completed" else 1)  # only an error may have lines


EVIL = "x\x1b[2J\u202e\x9b"


@pytest.mark.parametrize(
    "event",
    [
        _said(EVIL),
        _said("hi", origin=Origin(source=EVIL)),
        _said("hi", path=EVIL),
        _called({"command": EVIL}),
        _called({"a": EVIL, EVIL: 1}),
        _called(EVIL),
        _called({}, name=EVIL),
        _answered(EVIL),
        _answered({EVIL: EVIL}),
        _answered("ok", error=EVIL),
        _event("system.event", SystemPayload(subtype=EVIL, text=EVIL)),
        _event("error", ErrorPayload(message=EVIL)),
        _event("unknown", UnknownPayload(text=EVIL)),
        _event("unknown", UnknownPayload(value=EVIL)),
        _event(EVIL, EVIL),
        _event("message.user", MessagePayload(role="user", blocks=(), system_prompt=EVIL)),
    ],
)
@pytest.mark.parametrize("color", [True, False])
def test_no_field_of_any_event_is_obeyed(event: Event, color: bool) -> None:
    """Text, inputs, outputs, errors, names, sources and types: whatever a file says is shown, never sent on."""
    shown = TerminalRenderer(color=color).render(event)
    assert "\x1b[2J" not in shown
    assert not set("\u202e\x9b") & set(shown)


def test_color_is_only_color() -> None:
    """Headlines are bold or colored, failures red, details dim; content is left alone."""
    renderer = TerminalRenderer(color=True)
    assert renderer.render(_said("hi")) == "\x1b[32m🤖\x1b[0m hi\n"
    assert renderer.render(_step("step.started", "fix", "fix")) == "\x1b[36;1m▸ fix\x1b[0m \x1b[2magent\x1b[0m\n"
    assert renderer.render(_step("step.completed", "fix", "fix", error="x")) == "\x1b[31m✗ fix: x\x1b[0m\n"


def test_a_path_of_dots_does_not_flood_the_terminal() -> None:
    """However deep a path claims to be, the indent ends somewhere."""
    assert _shown(_said("hi", path="." * 1_000_000)) == "  " * DEEPEST_INDENT + "🤖 hi\n"
