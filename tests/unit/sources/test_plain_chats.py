"""What we export, read back without saying what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden_cases import FOLDER, run_of
from stenograph.export.exporter import exporter_named
from stenograph.fold.losses import LossReport
from stenograph.model import Event
from stenograph.sources.conversion import convert
from stenograph.sources.detection import detect_file

RUN = FOLDER / "claude_code" / "2.1.325-basic"


def exported(name: str, path: Path) -> bytes:
    """A golden run in another format."""
    data = b"".join(piece for piece in exporter_named(name)(run_of(RUN), LossReport(name)) if isinstance(piece, bytes))
    path.write_bytes(data)
    return data


def calls(events: list[Event]) -> list[str]:
    """The names of the tools that were called."""
    return [event.payload.name for event in events if event.type == "tool.call"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "format"),
    [("anthropic", "anthropic_messages"), ("openai-chat", "openai_chat"), ("openai-responses", "openai_responses")],
)
def test_a_request_over_many_lines_is_read_by_its_api(name: str, format: str, tmp_path: Path) -> None:
    """On one line and over many, as people save it."""
    flat, pretty = tmp_path / "flat.json", tmp_path / "pretty.json"
    pretty.write_text(json.dumps(json.loads(exported(name, flat)), indent=2))
    for path in (flat, pretty):
        found = detect_file(path)
        assert found.spec is not None
        assert found.spec.name == format
        assert calls(list(convert(path))) == calls(run_of(RUN))


def test_a_trace_that_we_exported_is_read(tmp_path: Path) -> None:
    """OTLP/JSON, detected and with every call."""
    exported("otlp", tmp_path / "trace.json")
    found = detect_file(tmp_path / "trace.json")
    assert found.spec is not None
    assert found.spec.name == "otlp"
    assert sorted(calls(list(convert(tmp_path / "trace.json")))) == sorted(calls(run_of(RUN)))
