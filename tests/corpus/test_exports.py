"""Exports of transcripts that nobody here made: every capture in every format, each thing accounted for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest
from atif import Trajectory

from shared_folder import SHARED
from stenograph.errors import InvalidTarget, StenographError
from stenograph.export.exporter import exporters
from stenograph.fold.losses import KINDS, LossReport
from stenograph.model import Event
from stenograph.sources.conversion import convert
from stenograph.testing.run_counts import accounted, counted

pytestmark = pytest.mark.corpus
LARGEST = 3_000_000


def _runs() -> Iterator[tuple[str, list[Event]]]:
    for path in sorted(each for name in ("captures", "agents") for each in (SHARED / name).rglob("*.json*")):
        if path.stat().st_size > LARGEST:
            continue
        runs: dict[str, list[Event]] = {}
        try:
            for event in convert(path, keep_raw=False):
                runs.setdefault(event.run_id, []).append(event)
        except StenographError:
            continue  # not a transcript
        yield from ((str(path), events) for events in runs.values())


@pytest.mark.timeout(1800)
def test_every_capture_is_exported_to_every_format() -> None:
    """Nothing is lost that the report does not name; files are JSON, trajectories valid."""
    done: Counter[str] = Counter()
    kinds = [kind for kind in KINDS if kind != "assistant messages"]
    for path, events in _runs():
        want = counted(events)
        for name, exporter in exporters().items():
            report = LossReport(name)
            try:
                data = b"".join(piece for piece in exporter(events, report) if isinstance(piece, bytes))
            except InvalidTarget:
                continue  # there is nothing in it
            got = accounted(report)
            assert {kind: got[kind] for kind in kinds} == {kind: want[kind] for kind in kinds}, (path, name)
            is_json = exporter.suffix.endswith((".json", ".jsonl"))
            for line in data.split(b"\n")[:-1] if exporter.suffix.endswith(".jsonl") else [data] if is_json else []:
                json.loads(line)
            if name == "atif":
                Trajectory.model_validate_json(data)
            done[name] += 1
    assert set(done) == set(exporters())
    assert min(done.values()) > 100
