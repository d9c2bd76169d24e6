"""OTLP: a run as one trace whose spans fit together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from golden_cases import CASES, name_of, run_of, sampled
from stenograph.export.exporter import exporter_named
from stenograph.fold.calls import pair_calls
from stenograph.fold.exchange import exchange
from stenograph.fold.losses import LossReport
from stenograph.model import ErrorPayload, Event

KINDS = {"agent": ("invoke_agent", "AGENT"), "chat": ("chat", "LLM"), "tool": ("execute_tool", "TOOL")}


def spans_of(events: list[Event], **options: str) -> list[dict[str, Any]]:
    """The spans, with plain attributes."""
    data = b"".join(exporter_named("otlp")(events, LossReport("otlp"), **options))  # type: ignore[arg-type]
    (resource,) = json.loads(data)["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    return [span | {"attributes": plain(span["attributes"])} for span in scope["spans"]]


def plain(attributes: list[dict[str, Any]]) -> dict[str, Any]:
    """Attributes by their names; each value has one type, and integers are strings."""
    found = {}
    for attribute in attributes:
        ((kind, value),) = attribute["value"].items()
        assert isinstance(value, {"stringValue": str, "intValue": str, "boolValue": bool, "arrayValue": dict}[kind])
        found[attribute["key"]] = int(value) if kind == "intValue" else value
    assert len(found) == len(attributes)
    return found


@pytest.mark.parametrize("case", sampled(CASES))
def test_the_spans_of_a_run_are_one_tree(case: Path) -> None:
    """One trace, one root, ids that are there once, children of spans that exist, times in order."""
    events = run_of(case)
    for vocabulary in ("genai", "openinference"):
        spans = spans_of(events, vocabulary=vocabulary)
        ids = [span["spanId"] for span in spans]
        assert len(set(ids)) == len(ids)
        assert {len(span["traceId"]) for span in spans} == {32}
        assert {len(each) for each in ids} == {16}
        assert len({span["traceId"] for span in spans}) == 1
        assert [span for span in spans if "parentSpanId" not in span] == spans[:1]
        assert all(span["parentSpanId"] in ids for span in spans[1:])
        assert all(int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) for span in spans)


@pytest.mark.parametrize("case", sampled(CASES))
def test_spans_are_answers_tools_and_agents(case: Path) -> None:
    """As many as there are, by both vocabularies, with the tokens of the run's calls."""
    events = run_of(case)
    run = exchange(events)
    genai, other = spans_of(events), spans_of(events, vocabulary="openinference")
    counted = {
        name: sum(span["attributes"].get("gen_ai.operation.name") == words[0] for span in genai)
        for name, words in KINDS.items()
    }
    assert counted == {
        name: sum(span["attributes"].get("openinference.span.kind") == words[1] for span in other)
        for name, words in KINDS.items()
    }
    assert counted["agent"] == 1 + len(run.subagents)
    assert counted["tool"] >= sum(pair.call is not None for pair in pair_calls(events))
    attached = [payload for thread in run.threads for turn in thread.turns for payload in turn.usages]
    for name, words in (("input", "gen_ai.usage.input_tokens"), ("output", "gen_ai.usage.output_tokens")):
        want = sum(getattr(payload, f"{name}_tokens") for payload in attached)
        assert sum(span["attributes"].get(words, 0) for span in genai) == want
        assert (
            sum(
                span["attributes"].get(f"llm.token_count.{'prompt' if name == 'input' else 'completion'}", 0)
                for span in other
            )
            == want
        )


def test_deltas_say_each_message_once(tmp_path: Path) -> None:
    """The input of an answer is what came since the one before; `full` repeats the history, `none` has no words."""
    case = next(case for case in CASES if name_of(case) == "claude_code/1.0-basic")
    events = run_of(case)
    chats = [span["attributes"] for span in spans_of(events) if span["name"].startswith("chat ")]
    assert len(chats) > 1
    given = [len(json.loads(chat["gen_ai.input.messages"])) for chat in chats]
    whole = [
        len(json.loads(span["attributes"]["gen_ai.input.messages"]))
        for span in spans_of(events, content="full")
        if span["name"].startswith("chat ")
    ]
    assert whole == [sum(given[: place + 1]) + place for place in range(len(given))]
    bare = json.dumps(spans_of(events, content="none"))
    assert "Please do the basic thing" in json.dumps(chats)
    assert "Please do the basic thing" not in bare
    assert "echo hi" not in bare


@pytest.mark.parametrize("vocabulary", ["genai", "openinference"])
def test_without_content_no_words_are_sent(vocabulary: str) -> None:
    """Neither of messages, errors and results nor of the definitions of tools, in any case."""
    texts = 0
    for case in CASES[::3]:
        events = run_of(case)
        sent = json.dumps(spans_of(events, content="none", vocabulary=vocabulary), ensure_ascii=False)
        for event in events:
            payload = event.payload
            words = [getattr(block, "text", None) for block in getattr(payload, "blocks", None) or ()]
            words += [payload.message] if isinstance(payload, ErrorPayload) else []
            for text in (word for word in words if isinstance(word, str) and len(word) > 20):
                texts += 1
                assert json.dumps(text, ensure_ascii=False)[1:-1] not in sent
        assert "tool.definitions" not in sent
    assert texts > 100


def test_a_run_is_the_same_trace_each_time_and_another_run_another() -> None:
    """Ids are made from the run's id, so what is sent twice is there once."""
    first, second = (run_of(case) for case in CASES[:2])
    assert spans_of(first) == spans_of(first)
    ids = [{span["spanId"] for span in spans_of(events)} for events in (first, second)]
    assert first[0].run_id != second[0].run_id
    assert not ids[0] & ids[1]
