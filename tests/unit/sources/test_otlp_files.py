"""Files of spans that others wrote: as JSON or protobuf, with many conversations in one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otlp_spans import bare, joined, requests_in
from stenograph import open_archive
from stenograph.cli.program import cli
from stenograph.sources.conversion import convert

REQUESTS = requests_in("pydantic_ai")


def _protobuf(requests: list[dict[str, Any]]) -> list[bytes]:
    """The requests as a library that is not ours writes them; it has ids in base64."""
    import base64

    found = []
    for request in requests:
        copy = json.loads(json.dumps(request))
        for span in copy["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            for name in ("traceId", "spanId", "parentSpanId"):
                if span.get(name):
                    span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
        found.append(ParseDict(copy, ExportTraceServiceRequest()).SerializeToString())
    return found


WRITTEN = {
    "lines.jsonl": "".join(f"{json.dumps(request)}\n" for request in REQUESTS).encode(),
    "document.json": json.dumps(joined(REQUESTS), indent=1).encode(),
    "one line.json": json.dumps(joined(REQUESTS)).encode(),
    "message.pb": b"".join(_protobuf(REQUESTS)),  # messages of protobuf that follow each other are one
    "messages.binpb": b"".join(len(each).to_bytes(4, "big") + each for each in _protobuf(REQUESTS)),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_every_way_to_write_a_file_of_spans_gives_the_same_events(name: str, tmp_path: Path) -> None:
    """Lines, one document over many lines or in one, a protobuf message, and messages with their lengths."""
    plain, path = tmp_path / "plain.jsonl", tmp_path / name
    plain.write_bytes(WRITTEN["lines.jsonl"])
    path.write_bytes(WRITTEN[name])
    expected = bare(convert(plain, keep_raw=False))
    assert len(expected) == 32
    assert bare(convert(path, keep_raw=False)) == expected


def test_one_conversation_of_a_file_can_be_shown(tmp_path: Path) -> None:
    """`FILE#CONVERSATION`, as with a database."""
    path = tmp_path / "spans.json"
    path.write_bytes(WRITTEN["document.json"])
    shown = CliRunner().invoke(cli, ["show", f"{path}#01a1e478-bd74", "--as", "entries"])
    assert shown.exit_code == 0, shown.output
    assert "Will fail" in shown.stdout
    assert "Go on please" not in shown.stdout


def test_a_file_of_spans_that_is_synced_has_a_run_for_each_conversation(tmp_path: Path) -> None:
    """And when it grows, what is new is added."""
    folder, archive = tmp_path / "files", tmp_path / "archive"
    folder.mkdir()
    path = folder / "spans.jsonl"
    for end in (5, len(REQUESTS), len(REQUESTS)):
        path.write_text("".join(f"{json.dumps(request)}\n" for request in REQUESTS[:end]))
        with open_archive(archive) as opened:
            opened.sync(paths=[str(folder)])
    with open_archive(archive) as opened:
        infos = sorted(opened.runs(), key=lambda info: info.started_at or "")
        assert [(info.agent, info.turns, info.tool_calls, info.status) for info in infos] == [
            ("pydantic-ai", 2, 5, "finished"),
            ("pydantic-ai", 1, 1, "failed"),
        ]
        for info, count in zip(infos, [25, 7], strict=True):
            with opened.run(info.run_id) as run:
                assert len(list(run.events())) == count
