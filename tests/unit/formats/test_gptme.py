"""gptme: how its three ways of writing calls are read, and what no golden case has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_cases import FOLDER
from stenograph.fold.actions import action
from stenograph.fold.calls import pair_calls
from stenograph.fold.status import RunStatus
from stenograph.fold.usage import usage_totals
from stenograph.formats.base import Context
from stenograph.formats.gptme import SPEC
from stenograph.formats.gptme.words import Call, Thought, pieces_of
from stenograph.formats.registry import detect_records
from stenograph.model import Event
from stenograph.sources.conversion import convert
from strategies import examples

RUN = "550e8400-e29b-41d4-a716-446655440000"


def _events(*rows: dict[str, Any]) -> list[Event]:
    parser = SPEC.open(Context(run_id=RUN))
    lines = [json.dumps({"timestamp": "2026-11-17T10:00:00.000001", **row}) for row in rows]
    return parser.feed("\n".join(lines).encode() + b"\n") + parser.finish()


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Just words.", ["Just words."]),
        ("a@b.de and `x`", ["a@b.de and `x`"]),
        ("<think>Hm.</think>\nYes.", [Thought("Hm."), "Yes."]),
        ("<thinking>cut off", [Thought("cut off")]),
        ("Look.\n@shell(c1): {\"command\": \"ls\"}", ["Look.", Call("c1", "shell", {"command": "ls"})]),
        ("@shell(c1): {broken", ["@shell(c1): {broken"]),
        ("@a(1): {}\n@b(2): {\"x\": \"}\"}", [Call("1", "a", {}), Call("2", "b", {"x": "}"})]),
        ("Look.\n\n```shell\nls\n```\nDone.", ["Look.", Call(None, "shell", {"command": "ls"}), "Done."]),
        ("```python\nprint()\n```", ["```python\nprint()\n```"]),
        ("```text\n@shell(c1): {}\n```", ["```text\n@shell(c1): {}\n```"]),
        ("```save a.md\n# Title\n```sh\nls\n```\n```",
         [Call(None, "save", {"path": "a.md", "content": "# Title\n```sh\nls\n```"})]),
        ("```shell\nls", ["```shell\nls"]),
        ("```py\n1+1\n```", [Call(None, "ipython", {"code": "1+1"})]),
        ("```read\na.txt\nb.txt\n```", [Call(None, "read", {"paths": ["a.txt", "b.txt"]})]),
        ("<tool-use>\n<shell>\necho &lt;a&gt;\n</shell>\n</tool-use>", [Call(None, "shell", {"command": "echo <a>"})]),
        ('<function_calls><invoke name="ipython">1</invoke></function_calls>', [Call(None, "ipython", {"code": "1"})]),
    ],
)  # fmt: skip
def test_an_answer_is_thoughts_words_and_calls(text: str, pieces: list[Any]) -> None:
    """Calls that are lines, blocks of code or tags, and what only looks like one."""
    assert list(pieces_of(text)) == pieces


_PARTS = st.sampled_from(
    ["```", "```shell\n", "```py\n", "\n", "<think>", "</think>", "@a(1): ", '{"x": 1}', "<tool-use>", "</tool-use>",
     "<shell>", "</shell>", "words ", "```text\n", "````\n"]
)  # fmt: skip


@given(st.lists(_PARTS, max_size=12).map("".join))
@examples(200)
def test_no_word_of_an_answer_is_lost(text: str) -> None:
    """Whatever is written: every letter of it is in a thought, in words or in a call."""
    found = "".join(str(piece) for piece in pieces_of(text))
    assert found.count("words") == text.count("words")


def test_a_written_call_is_answered_by_the_next_word_that_is_seen() -> None:
    """Hidden context between a call and its result is not its result; the exit code is in the words."""
    events = _events(
        {"role": "user", "content": "Do it."},
        {"role": "assistant", "content": "```shell\nfalse\n```"},
        {"role": "system", "content": "budget", "hide": True},
        {"role": "system", "content": "Ran command: `false`\n\nNo output\nReturn code: 1\n"},
    )
    (pair,) = pair_calls(events)
    assert pair.result is not None
    assert action(pair).exit_code == 1
    assert [event.type for event in events][-2:] == ["system.event", "tool.result"]


def test_a_tool_that_broke_has_failed() -> None:
    """The program says so in words."""
    said = {"role": "assistant", "content": "@shell(c1): {}"}
    seen = {
        "role": "system",
        "content": "Error executing tool 'shell': no",
        "call_id": "c1",
        "metadata": {"tool": "shell"},
    }
    (pair,) = pair_calls(_events(said, seen))
    assert pair.result is not None
    assert pair.result.payload.error == "Error executing tool 'shell': no"


def test_a_session_that_its_model_ended_is_finished() -> None:
    """By the tool `complete`."""
    status = RunStatus()
    said = {"role": "assistant", "content": "@complete(c1): {}"}
    for event in _events(said, {"role": "system", "content": "Task complete.", "call_id": "c1"}):
        status.add(event)
    assert status.verdict().status == "finished"


def test_a_file_with_a_message_is_named_by_its_path() -> None:
    """Its content is not in the conversation."""
    (event,) = _events({"role": "user", "content": "See.", "files": ["/tmp/dot.png"]})
    assert "/tmp/dot.png" in str(event.payload)


@pytest.mark.parametrize(
    ("case", "calls", "tokens"), [("tools", 2, (2100, 400, 56, 15)), ("markdown", 5, (6000, 1600, 155, 45))]
)
def test_tokens_are_those_that_the_model_counted(case: str, calls: int, tokens: tuple[int, ...]) -> None:
    """The input includes what was cached, which gptme tells apart."""
    total = usage_totals(list(convert(FOLDER / "gptme" / case / "input"))).total
    found = total.input_tokens, total.cache_read_input_tokens, total.output_tokens, total.reasoning_output_tokens
    assert (total.records, found) == (calls, tokens)


def test_the_folder_names_the_conversation() -> None:
    """Also of a branch, which is an older state of the same one; the prompt tells the rest."""
    case = FOLDER / "gptme" / "tools" / "input" / "conv-tool" / "conversation.jsonl"
    records = [json.loads(line) for line in case.read_text("utf-8").splitlines()]
    found = SPEC.identify(records, "/x/conv-tool/conversation.jsonl")
    assert (found.native_id, found.cwd, found.agent_version) == ("conv-tool", "/home/user/proj", "0.35.1")
    assert found.model == "fake-model"
    assert SPEC.identify(records, "/x/conv-tool/branches/main-edit-0.jsonl").native_id == "conv-tool"
    assert SPEC.detect(records, "/x/conv-tool/views/v1.jsonl") == 0


def test_a_plain_chat_is_not_gptme_s() -> None:
    """Messages without gptme's time and fields are a chat of anybody."""
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
    found = detect_records(chat, str(Path("chat.jsonl")))
    assert found is not None
    assert found.name == "openai_chat"
