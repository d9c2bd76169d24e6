"""Documents: JSON that is no lines, however it is broken into some."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from stenograph.formats import registry
from stenograph.formats.registry import formats
from stenograph.sources import convert, detect_file

AT = "2026-11-15T19:13:00.000Z"
EXPORT: dict[str, Any] = {
    "info": {"id": "ses_1", "directory": "/p", "time": {"created": 1}},
    "messages": [
        {
            "info": {"id": "msg_1", "role": "assistant", "sessionID": "ses_1"},
            "parts": [{"id": "prt_1", "type": "text", "text": "Hello", "sessionID": "ses_1", "messageID": "msg_1"}],
        }
    ],
}
LINES = [{"type": "user", "sessionId": "s", "timestamp": AT, "message": {"role": "user", "content": t}} for t in "ab"]
WAYS = {
    "indented": lambda value: json.dumps(value, indent=2),
    "in one line": json.dumps,
    "in one line with its end": lambda value: json.dumps(value) + "\n",
    "broken after every comma": lambda value: json.dumps(value).replace(", ", ",\n"),
    "behind empty lines": lambda value: "\n\n" + json.dumps(value, indent=1),
    "with a mark at the beginning": lambda value: "\ufeff" + json.dumps(value, indent="\t"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("document", "name", "types"), [
    (EXPORT, "opencode", ["message.assistant"]),
    (LINES, "claude_code", ["message.user", "message.user"]),
], ids=["export", "list"])  # fmt: skip
def test_a_document_is_known_however_it_is_broken_into_lines(
    document: Any, name: str, types: list[str], way: str, tmp_path: Path
) -> None:
    """An object and a list give the same events, however they were printed, whatever the file is called."""
    path = tmp_path / "transcript.log"
    path.write_text(WAYS[way](document), "utf-8")
    found = detect_file(path)
    assert found.spec is not None
    assert found.spec.name == name
    assert [event.type for event in convert(path) if event.type.startswith("message")] == types


@pytest.mark.parametrize("beginning", [b"", b'{"type":"user","mess\n', b"[1, 2]\n", b"{\n"])
def test_lines_are_not_taken_for_a_document(beginning: bytes, tmp_path: Path) -> None:
    """A file of lines whose first one is cut, or no record, is a file of lines."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(beginning + b"".join(json.dumps(line).encode() + b"\n" for line in LINES))
    found = detect_file(path)
    assert not found.is_document
    assert found.spec is not None
    assert found.spec.name == "claude_code"


@pytest.mark.parametrize(("kind", "is_known"), [("document", True), ("file", False)])
def test_an_object_belongs_to_formats_that_are_written_so(
    kind: str, is_known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However sure a format of lines is: half the world's JSON files look like one record."""
    spec = replace(formats()["openai_chat"], kind=kind, documents=False, detect=lambda head, path: 90)
    monkeypatch.setattr(registry, "formats", lambda: {spec.name: spec})
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"messages": []}, indent=1))
    assert (detect_file(path).spec is spec) is is_known
