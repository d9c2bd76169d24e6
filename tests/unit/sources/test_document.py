"""Files that are one JSON document over many lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stenograph.errors import SourceError
from stenograph.sources import convert, detect_file

SESSION: dict[str, Any] = {
    "sessionId": "7f3c2a52-51b3-4a51-9a54-3c5c1d7a9e10",
    "projectHash": "abc",
    "startTime": "2026-01-01T00:00:00.000Z",
    "lastUpdated": "2026-01-01T00:00:02.000Z",
    "messages": [
        {"id": "1", "timestamp": "2026-01-01T00:00:01.000Z", "type": "user", "content": "hello"},
        {
            "id": "2",
            "timestamp": "2026-01-01T00:00:02.000Z",
            "type": "gemini",
            "content": "hi",
            "model": "gemini-2.5-pro",
        },
    ],
}
CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]


def written(folder: Path, value: Any, name: str = "session-old.json", *, indent: int | None = 2) -> Path:
    path = folder / name
    path.write_text(json.dumps(value, indent=indent))
    return path


@pytest.mark.parametrize("indent", [None, 2])
def test_a_session_is_the_same_on_one_line_and_on_many(tmp_path: Path, indent: int | None) -> None:
    """How a document is printed changes nothing but that it has no lines to keep."""
    path = written(tmp_path, SESSION, indent=indent)
    found = detect_file(path)
    assert found.spec is not None
    assert (found.spec.name, found.is_document) == ("gemini_cli", indent is not None)
    types = [event.type for event in convert(path)]
    assert types.count("message.user") == types.count("message.assistant") == 1
    assert {event.run_id for event in convert(path)} == {SESSION["sessionId"]}


def test_a_list_is_what_its_records_are(tmp_path: Path) -> None:
    """A list of chat messages is a chat."""
    path = written(tmp_path, CHAT, "chat.json")
    found = detect_file(path)
    assert found.spec is not None
    assert found.spec.name == "openai_chat"
    texts = [event.payload.blocks[0].text for event in convert(path) if event.type == "message.user"]
    assert "hello" in texts


@pytest.mark.parametrize(
    "value", [{"version": 1, "messages": CHAT}, {"a": 1}, [1, 2], [], {}, [{"a": 1}, {"b": 2}]], ids=str
)
def test_any_other_document_is_nobodys(tmp_path: Path, value: Any) -> None:
    """An object with messages in it is not a chat: half the world's JSON files have those."""
    assert detect_file(written(tmp_path, value)).spec is None
    with pytest.raises(SourceError, match="in no format we know"):
        list(convert(written(tmp_path, value)))


def test_a_broken_document_is_read_as_lines(tmp_path: Path) -> None:
    """Cut anywhere, a document is no document; named by its format, each line is kept as unknown."""
    from stenograph.formats.registry import formats

    path = written(tmp_path, SESSION)
    path.write_text(path.read_text()[:-20])
    assert not detect_file(path).is_document
    conversion = convert(path, formats()["gemini_cli"])
    assert {event.type for event in conversion} == {"unknown"}
