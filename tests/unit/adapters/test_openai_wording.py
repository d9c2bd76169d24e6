"""How the two APIs word a conversation: what a request repeats, and what an answer comes to."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_server import Turn, answer
from stenograph.adapters.evaluations.evaluation import Call
from stenograph.adapters.openai.chat import ChatWording
from stenograph.adapters.openai.chunks import joined
from stenograph.adapters.openai.config import OpenAIModelConfig
from stenograph.adapters.openai.responses import ResponsesWording
from stenograph.adapters.prompt import Prompt
from stenograph.adapters.tool import tools_of

words = st.text(max_size=20)
turns = st.builds(
    Turn,
    text=words,
    thinking=words,
    calls=st.lists(st.tuples(st.sampled_from(["a", "b"]), st.dictionaries(words, words, max_size=2)), max_size=3).map(
        tuple
    ),
)
PATHS = {"chat": "/chat/completions", "responses": "/responses"}


def add(a: int, b: int = 0) -> int:
    """Add."""
    return a + b


@given(turn=turns)
def test_chunks_join_to_the_message(turn: Turn) -> None:
    """A streamed message says what the same message says when it is not streamed."""
    whole = answer(PATHS["chat"], {}, turn, 1)["body"]["choices"][0]["message"]
    chunks = answer(PATHS["chat"], {"stream": True}, turn, 1)["events"]
    expected = {name: value for name, value in whole.items() if value is not None}
    assert {name: value for name, value in joined(chunks).items() if value != ""} == expected


@given(turn=turns, api=st.sampled_from(sorted(PATHS)), stream=st.booleans())
def test_streamed_or_not_an_answer_comes_to_the_same(turn: Turn, api: str, stream: bool) -> None:
    """Text, calls, and what the next request repeats."""
    said = []
    for streamed in (True, False):
        record = answer(PATHS[api], {"stream": streamed}, turn, 1)
        wording = (ChatWording if api == "chat" else ResponsesWording)(Prompt("?"), {}, {"model": "m"})
        result = wording.read(copy.deepcopy(record.get("events") or record["body"]))
        history = wording.request()["messages" if api == "chat" else "input"]
        said.append((result, [{name: item for name, item in entry.items() if item} for entry in history]))
    assert said[0] == said[1]
    assert said[0][0].text == turn.text
    assert [call.name for call in said[0][0].calls] == [name for name, _ in turn.calls]


def test_a_request_of_chat_completions() -> None:
    """System and user first, tools with their schemas, then what was said, and what the tools gave."""
    wording = ChatWording(Prompt("What?", system="S"), tools_of((add,)), {"model": "m", "n": 1})
    request = wording.request()
    assert request["messages"] == [{"role": "system", "content": "S"}, {"role": "user", "content": "What?"}]
    function = request["tools"][0]["function"]
    assert (function["name"], function["description"]) == ("add", "Add.")
    assert function["parameters"]["required"] == ["a"]
    assert (request["model"], request["n"]) == ("m", 1)
    call = {"type": "function", "function": {"name": "add", "arguments": "{}"}}
    said = wording.read({"choices": [{"message": {"content": None, "refusal": None, "tool_calls": [call]}}]})
    wording.give(said.calls[0], "3")
    assert wording.request()["messages"][2:] == [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": said.calls[0].id, "content": "3"},
    ]
    assert said.calls[0].id.startswith("call_")  # the server gave none, and nothing could have answered it
    assert request["messages"] != wording.request()["messages"]  # a request is not changed by what comes later


def test_a_request_of_the_responses_api() -> None:
    """The system prompt is the instructions; every output item is an input item of the next request."""
    wording = ResponsesWording(Prompt("What?", system="S"), tools_of((add,)), {"model": "m"})
    assert wording.request()["instructions"] == "S"
    assert wording.request()["tools"][0]["strict"] is False
    output = [
        {"type": "reasoning", "id": "rs", "summary": []},
        {"type": "function_call", "id": "fc", "call_id": "c1", "name": "add", "arguments": "{}"},
    ]
    said = wording.read({"output": output})
    assert said.calls == (Call("c1", "add", "{}"),)
    wording.give(said.calls[0], "3")
    assert wording.request()["input"] == [
        {"role": "user", "content": "What?"},
        *output,
        {"type": "function_call_output", "call_id": "c1", "output": "3"},
    ]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"error": {"message": "too long", "code": "x"}, "output": []}, "too long"),
        ([{"type": "response.failed", "response": {"error": {"code": "rate_limit"}}}], "rate_limit"),
        ([{"type": "error", "message": "gone"}], "gone"),
        ({"error": None, "output": []}, None),
    ],
)
def test_a_failed_answer_says_why(given: Any, why: str | None) -> None:
    """The service may say that it failed with status 200."""
    assert ResponsesWording(Prompt("?"), {}, {}).read(given).error == why


def test_a_refusal_and_parts_are_text() -> None:
    """What the model said, in whatever field it came."""
    for message, text in (
        ({"content": None, "refusal": "No."}, "No."),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({}, ""),
    ):
        assert ChatWording(Prompt("?"), {}, {}).read({"choices": [{"message": message}]}).text == text
    assert ChatWording(Prompt("?"), {}, {}).read({}).text == ""


def test_the_configuration_becomes_parameters_of_the_api() -> None:
    """By the names of each API; what was not chosen is not sent, and `parameters` win."""
    assert OpenAIModelConfig().request("m") == {"model": "m"}
    chat = OpenAIModelConfig(temperature=0.0, max_tokens=5, stream=True, parameters={"temperature": 1, "user": "u"})
    assert chat.request("m") == {
        "model": "m", "temperature": 1, "max_completion_tokens": 5, "stream": True,
        "stream_options": {"include_usage": True}, "user": "u",
    }  # fmt: skip
    responses = OpenAIModelConfig(api="responses", max_tokens=5, stream=True)
    assert responses.request("m") == {"model": "m", "max_output_tokens": 5, "stream": True}
