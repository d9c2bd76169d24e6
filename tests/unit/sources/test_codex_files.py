"""Codex's files: threads, their children, and the segments that a revert leaves."""

from __future__ import annotations

import json
from pathlib import Path

from stenograph.model import Event
from stenograph.sources import convert

THREAD = "01a1e0a5-0001-7000-8000-000000000001"
CHILD = "01a1e0a5-0002-7000-8000-000000000002"
ROLLOUT = "01a1e0a5-0003-7000-8000-000000000003"


def rollout(folder: Path, name: str, meta: dict[str, object], prompt: str, second: int) -> Path:
    """A small paginated rollout: its session_meta, one prompt, one answer."""
    at = f"2026-11-15T19:10:{second:02d}.000Z"

    def item(role: str, kind: str, text: str) -> dict[str, object]:
        passthrough = {"turn_id": "t", "content_item_kinds": ["user.text" if role == "user" else "unknown"]}
        payload = {"type": "message", "role": role, "id": f"msg_{text}", "content": [{"type": kind, "text": text}]}
        return payload | {"internal_chat_message_metadata_passthrough": passthrough}

    lines = [
        {
            "timestamp": at,
            "type": "session_meta",
            "payload": {"history_mode": "paginated", "cli_version": "0.166.0"} | meta,
        },
        {"timestamp": at, "type": "response_item", "payload": item("user", "input_text", prompt)},
        {"timestamp": at, "type": "response_item", "payload": item("assistant", "output_text", f"re {prompt}")},
    ]
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def said(events: list[Event]) -> list[tuple[str, str, str]]:
    found = []
    for event in events:
        if event.type in ("message.user", "message.assistant"):
            found += [(event.run_id, event.type, block.text) for block in event.payload.blocks]
    return found


def test_the_segment_after_a_revert_is_the_same_run(tmp_path: Path) -> None:
    """A reverted thread has two files and one run; the abandoned history stays, and numbers go on."""
    rollout(tmp_path, f"rollout-2026-11-15T19-10-01-{THREAD}.jsonl", {"id": THREAD, "session_id": THREAD}, "one", 1)
    base = {"thread_id": THREAD, "end_ordinal_exclusive": 1, "end_byte_offset": 10}
    meta = {"id": THREAD, "session_id": THREAD, "history_base": base}
    rollout(tmp_path, f"rollout-2026-11-15T19-10-05-{THREAD}_{ROLLOUT}.jsonl", meta, "two", 5)
    events = list(convert(tmp_path))
    assert said(events) == [
        (THREAD, "message.user", "one"),
        (THREAD, "message.assistant", "re one"),
        (THREAD, "message.user", "two"),
        (THREAD, "message.assistant", "re two"),
    ]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


def test_a_child_thread_is_a_run_with_a_parent(tmp_path: Path) -> None:
    """Codex's subagents are runs of their own, linked by `parent_run_id`, each with its own numbers."""
    rollout(tmp_path, f"rollout-2026-11-15T19-10-01-{THREAD}.jsonl", {"id": THREAD, "session_id": THREAD}, "one", 1)
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1}}}
    meta = {"id": CHILD, "session_id": THREAD, "parent_thread_id": THREAD, "source": spawn}
    rollout(tmp_path, f"rollout-2026-11-15T19-10-02-{CHILD}.jsonl", meta, "sub", 2)
    events = list(convert(tmp_path))
    assert {(event.run_id, event.parent_run_id) for event in events} == {(THREAD, None), (CHILD, THREAD)}
    assert [event.seq for event in events if event.run_id == CHILD] == [1, 2, 3]


def test_a_fork_is_a_run_of_its_own(tmp_path: Path) -> None:
    """A paginated fork does not copy its history, and it is no child of the thread it came from."""
    meta = {
        "id": CHILD, "session_id": CHILD, "forked_from_id": THREAD,
        "history_base": {"thread_id": THREAD, "end_ordinal_exclusive": 3, "end_byte_offset": 10},
    }  # fmt: skip
    path = rollout(tmp_path, f"rollout-2026-11-15T19-10-03-{CHILD}.jsonl", meta, "other way", 3)
    events = list(convert(path))
    assert {(event.run_id, event.parent_run_id) for event in events} == {(CHILD, None)}
    assert [text for _, _, text in said(events)] == ["other way", "re other way"]
