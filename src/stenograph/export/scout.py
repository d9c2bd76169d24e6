"""Scout: a run as an Inspect Scout transcript, a Parquet file of one row. A folder of them is a transcript database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stenograph.export.exporter import Exporter
from stenograph.export.inspect import inspect_log
from stenograph.export.parquet import parquet_bytes
from stenograph.export.wording import json_text
from stenograph.fold.losses import LossReport
from stenograph.model.event import Event


def write(events: Iterable[Event], report: LossReport, *, subagents: str) -> Iterator[bytes]:
    """One row: messages and events as Inspect writes them, with the columns that Scout filters by."""
    log = inspect_log(events, report, subagents)
    (sample,) = log["samples"]
    tokens = 0
    for event in sample["events"]:
        tokens += event.get("output", {}).get("usage", {}).get("total_tokens", 0) if event["event"] == "model" else 0
    row = {
        "transcript_id": sample["id"],
        "source_type": "stenograph",
        "source_id": sample["id"],
        "source_uri": f"stenograph:{sample['id']}",
        "date": log["eval"]["created"],
        "task_set": log["eval"]["task"],
        "task_id": sample["id"],
        "agent": sample["metadata"]["stenograph"]["adapter"],
        "model": log["eval"]["model"],
        "message_count": len(sample["messages"]),
        "total_time": sample.get("total_time"),
        "total_tokens": tokens or None,
        "messages": json_text(sample["messages"]),
        "events": json_text(sample["events"]),
        "events_data": json_text(sample["events_data"]),
    }
    columns = {name: [value] for name, value in row.items()}
    yield parquet_bytes(columns, integers=("message_count", "total_tokens"), floats=("total_time",))


EXPORTER = Exporter(
    name="scout",
    what="a transcript for Inspect Scout (Parquet; needs stenograph[parquet])",
    suffix=".scout.parquet",
    write=write,
    options={"subagents": ("embed", "drop")},
)
