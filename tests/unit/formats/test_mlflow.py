"""Traces of MLflow's own tracing, in the shape of Anthropic's API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stenograph.model import Event, MessagePayload, ToolPayload
from stenograph.sources.conversion import convert

ASKED = {"role": "user", "content": "Read both."}
CALLS = [
    {"type": "text", "text": "I read."},
    {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}},
    {"type": "tool_use", "id": "t2", "name": "read", "input": {"path": "b"}},
]


def told(folder: Path, *calls: tuple[list[Any], Any]) -> list[Event]:
    """The events of a trace: for each call of the model, its messages and what it answered."""
    spans = [
        {
            "trace_id": "AAECAwQFBgcICQoLDA0ODw==",
            "span_id": f"AQEBAQEBAQ{place}=",
            "parent_span_id": None,
            "name": "Messages.create",
            "start_time_unix_nano": 1763242097_000000000 + place,
            "end_time_unix_nano": 1763242098_000000000 + place,
            "attributes": {
                "mlflow.spanType": '"CHAT_MODEL"',
                "mlflow.spanInputs": json.dumps({"model": "m", "messages": messages}),
                "mlflow.spanOutputs": json.dumps({"type": "message", "role": "assistant", "content": content}),
            },
        }
        for place, (messages, content) in enumerate(calls)
    ]
    info = {"trace_id": "tr-1", "trace_metadata": {}, "request_time": "2025-11-15T21:28:17.694Z"}
    path = folder / "trace.json"
    path.write_text(json.dumps({"info": info, "data": {"spans": spans}}))
    return list(convert(path))


def test_calls_of_an_answer(tmp_path: Path) -> None:
    """The parts of an answer that are calls, each with its input."""
    events = told(tmp_path, ([ASKED], CALLS))
    calls = [event.payload for event in events if isinstance(event.payload, ToolPayload)]
    assert [(call.call_id, call.name, call.input) for call in calls] == [
        ("t1", "read", {"path": "a"}),
        ("t2", "read", {"path": "b"}),
    ]


def test_every_result_of_a_message(tmp_path: Path) -> None:
    """Calls that ran at once return in one message, which may say something more."""
    results = [
        {"type": "tool_result", "tool_use_id": "t1", "content": "alpha"},
        {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "beta"}]},
        {"type": "text", "text": "Go on."},
    ]
    answer = {"role": "assistant", "content": CALLS}
    later = [ASKED, answer, {"role": "user", "content": results}]
    events = told(tmp_path, ([ASKED], CALLS), (later, [{"type": "text", "text": "Done."}]))
    found = [event.payload for event in events if event.type == "tool.result"]
    assert [(each.call_id, each.output) for each in found if isinstance(each, ToolPayload)] == [
        ("t1", "alpha"),
        ("t2", "beta"),
    ]
    said = [event.payload for event in events if event.type == "message.user"]
    assert [each.blocks[0].text for each in said if isinstance(each, MessagePayload)] == ["Read both.", "Go on."]
