"""Zip, Parquet and streams: the forms of exports that are not one JSON document."""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from golden_cases import CASES, name_of, run_of
from stenograph.archive.reader import IndexReader
from stenograph.export.exporter import SideFile, exporter_named
from stenograph.export.otlp_protobuf import request_message, span_message
from stenograph.export.otlp_trace import attributes_of
from stenograph.fold.losses import LossReport
from stenograph.formats.otlp.protobuf import Signal, request_in
from stenograph.model import Event
from stenograph.query.archive_database import views_of
from stenograph.query.bundle_index import index_run
from stenograph.query.prices import load_prices
from stenograph.query.views import VIEWS

SOME = CASES[::16]


def written(events: list[Event], name: str, **options: str) -> tuple[bytes, dict[str, bytes]]:
    """The main file and those beside it."""
    pieces = list(exporter_named(name)(events, LossReport(name), **options))
    main = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    return main, {piece.name: piece.data for piece in pieces if isinstance(piece, SideFile)}


@pytest.mark.parametrize("case", SOME, ids=name_of)
def test_an_eval_file_holds_the_log_and_its_sample(case: Path) -> None:
    """Header and sample together are the log in JSON; two exports of one run are equal, byte for byte."""
    events = run_of(case)
    data, _ = written(events, "inspect-eval")
    assert data == written(events, "inspect-eval")[0]
    log = json.loads(written(events, "inspect")[0])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        (sample,) = (name for name in archive.namelist() if name.startswith("samples/"))
        assert json.loads(archive.read(sample)) == log["samples"][0]
        header = json.loads(archive.read("header.json"))
    assert header["eval"] == log["eval"]
    assert header["samples"] is None


@contextmanager
def asked(events: list[Event], folder: Path) -> Iterator[sqlite3.Connection]:
    """The views over a run."""
    index_run(events, events[0].run_id, folder)
    with IndexReader(folder) as reader, views_of(reader, load_prices(None)) as connection:
        yield connection


@pytest.mark.parametrize("case", SOME, ids=name_of)
def test_tables_have_the_rows_and_types_of_the_views(case: Path, tmp_path: Path) -> None:
    """Every view is a file with the same rows; a column that a run has no value for has its type all the same."""
    events = run_of(case)
    main, beside = written(events, "parquet")
    files = {"events": main} | {name.split(".")[-2]: data for name, data in beside.items()}
    assert set(files) == {view.name for view in VIEWS}
    assert written(events, "parquet", views="events")[1] == {}
    with asked(events, tmp_path) as connection:
        for name, data in files.items():
            table = pyarrow.parquet.read_table(io.BytesIO(data))
            rows = connection.execute(f"SELECT * FROM {name}").fetchall()
            assert [tuple(row.values()) for row in table.to_pylist()] == rows
            assert not any(str(each.type) == "null" for each in table.schema)


def test_types_of_a_column_are_the_same_in_every_run() -> None:
    """So files of many runs are read as one table."""
    schemas: dict[str, Any] = {}
    for case in SOME:
        main, beside = written(run_of(case), "parquet")
        for name, data in {"x.events.parquet": main, **beside}.items():
            schema = pyarrow.parquet.read_schema(io.BytesIO(data))
            assert schemas.setdefault(name.split(".")[-2], schema) == schema


@pytest.mark.parametrize("case", SOME, ids=name_of)
def test_a_transcript_for_scout_is_one_row(case: Path) -> None:
    """With the messages and events of the log."""
    events = run_of(case)
    (row,) = pyarrow.parquet.read_table(io.BytesIO(written(events, "scout")[0])).to_pylist()
    (sample,) = json.loads(written(events, "inspect")[0])["samples"]
    assert row["transcript_id"] == events[0].run_id
    assert json.loads(row["messages"]) == sample["messages"]
    assert json.loads(row["events"]) == sample["events"]
    assert row["message_count"] == len(sample["messages"])


@pytest.mark.parametrize("case", SOME, ids=name_of)
def test_a_stream_for_chat_interfaces_begins_and_ends_the_run(case: Path) -> None:
    """Every message, call and subagent that begins ends, and nothing comes after the end of the run."""
    lines = [json.loads(line) for line in written(run_of(case), "agui")[0].splitlines()]
    assert [lines[0]["type"], lines[-1]["type"]] == ["RUN_STARTED", "RUN_FINISHED"]
    kinds = [line["type"] for line in lines]
    for what in ("TEXT_MESSAGE", "REASONING_MESSAGE", "TOOL_CALL"):
        assert kinds.count(f"{what}_START") == kinds.count(f"{what}_END")
    assert kinds.count("SUBAGENT_STARTED") == kinds.count("SUBAGENT_FINISHED")
    assert kinds.count("TOOL_CALL_RESULT") <= kinds.count("TOOL_CALL_START")


@pytest.mark.parametrize("vocabulary", ["genai", "openinference"])
@pytest.mark.parametrize("case", SOME, ids=name_of)
def test_protobuf_holds_the_spans_of_the_json_form(case: Path, vocabulary: str) -> None:
    """All of them, whole, as the types of the protocol itself read them."""
    events = run_of(case)
    told = request_in(written(events, "otlp-protobuf", vocabulary=vocabulary)[0], Signal.TRACES)
    plain = json.loads(written(events, "otlp", vocabulary=vocabulary)[0])
    for span in plain["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        if "status" in span and not span["status"]["message"]:
            del span["status"]["message"]  # which protobuf does not tell from an empty one
    assert told == plain


def test_protobuf_holds_any_value() -> None:
    """Numbers at their limits, flags, lists, lone surrogates; the types of the protocol read each."""
    facts = {"most": 1 << 70, "least": -(1 << 70), "minus": -1, "no": False, "list": ["a", "b"], "odd": "\ud800 ok"}
    span = {
        "traceId": "ab" * 16,
        "spanId": "cd" * 8,
        "name": "x" * 300,
        "kind": 1,
        "startTimeUnixNano": "0",
        "endTimeUnixNano": str((1 << 64) - 1),
        "attributes": attributes_of(facts),
    }
    told = request_in(
        request_message({"attributes": []}, {"name": "s", "version": "1"}, [span_message(span)]), Signal.TRACES
    )
    ((found,),) = (scope["spans"] for each in told["resourceSpans"] for scope in each["scopeSpans"])
    values = {each["key"]: next(iter(each["value"].values())) for each in found["attributes"]}
    assert (values["most"], values["least"], values["minus"]) == (str((1 << 63) - 1), str(-(1 << 63)), "-1")
    assert (values["no"], values["odd"]) == (False, "\ufffd ok")
    assert [each["stringValue"] for each in values["list"]["values"]] == ["a", "b"]
    assert {name: found[name] for name in ("name", "startTimeUnixNano", "endTimeUnixNano")} == {
        name: span[name] for name in ("name", "startTimeUnixNano", "endTimeUnixNano")
    }
