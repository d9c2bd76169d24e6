"""DebugBundle: a loaded bundle, whose files are read on demand."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from stenograph.bundle.container import Container, ZipLimits
from stenograph.bundle.manifest import NAME, Manifest, read_manifest
from stenograph.bundle.records import EVENTS, LOGS, TRANSCRIPT
from stenograph.bundle.verify import BundleReport, verify_bundle
from stenograph.errors import SourceError
from stenograph.journal.reader import JournalReader
from stenograph.model import Event, mend
from stenograph.model.codec import REFUSALS
from stenograph.transcript.entry import TranscriptEntry
from stenograph.transcript.project import entries
from stenograph.transcript.reconstruct import reconstruct_transcript

_LONGEST_STEM = 200

_decode = msgspec.json.Decoder().decode


class DebugBundle:
    """Everything that was kept of one run. `load` opens one; its content is read on demand.

    Raises `SourceError` for what is missing or broken. `verify` says whether anything was changed.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DebugBundle:
        """Open a bundle; raises `SourceError` for a file that is not a bundle, or an unsafe zip."""
        place = Path(path)
        with Container(place) as container:
            return cls(place, read_manifest(container.read(NAME), str(place)))

    @cached_property
    def logs(self) -> list[dict[str, Any]]:
        """Every log record, in order."""
        return list(self.records(LOGS))

    @cached_property
    def transcript(self) -> list[dict[str, Any]]:
        """The records among them that are transcript entries."""
        return list(self.records(TRANSCRIPT))

    @cached_property
    def events(self) -> list[Event]:
        """The events of the run, in order."""
        return list(self.journal())

    @cached_property
    def entries(self) -> list[TranscriptEntry]:
        """The entries of the events, in order; then those that were only logged, by an unrecorded evaluation."""
        projected = list(entries(self.events))
        ids = {entry.entry_id for entry in projected}
        logged = reconstruct_transcript(self.transcript)
        return projected + [entry for entry in logged if entry.run_id is not None and entry.entry_id not in ids]

    def child_events(self, run_id: str) -> list[Event]:
        """The events of a run that this one called; `manifest.child_run_ids` names them."""
        return list(self.journal(run_id))

    def journal(self, run_id: str | None = None) -> JournalReader:
        """The events of the run, or of one that it called, read one at a time."""
        if run_id is None:
            return self._journal(EVENTS, self.manifest.stem)
        return self._journal(f"runs/{run_id}.jsonl", run_id)

    def read(self, name: str) -> bytes:
        """A file of the bundle, such as `metrics.json`, whole."""
        with Container(self.path) as container:
            return container.read(name, ZipLimits().total_bytes)

    def records(self, name: str) -> Iterator[dict[str, Any]]:
        """The records of a file of JSON lines, one at a time."""
        with Container(self.path) as container:
            for line in container.lines(name):
                record = _parsed(line)
                if not isinstance(record, dict):
                    raise SourceError(f"{self.path}: a line of {name} is not a record; verify it", str(self.path))
                yield record

    def verify(self) -> BundleReport:
        """Whether every byte is as it was when the bundle was made."""
        return verify_bundle(self.path)

    def _journal(self, name: str, stem: str) -> JournalReader:
        """The events in a file of the bundle, as a reader of the journal itself gives them."""
        simple = stem.replace("/", "_").replace("\0", "_")[:_LONGEST_STEM] or "run"
        with tempfile.TemporaryDirectory(prefix="stenograph-") as folder, Container(self.path) as container:
            copy = Path(folder) / f"{simple}.jsonl"
            with copy.open("wb") as out:
                for chunk in container.chunks(name):
                    out.write(chunk)
            return JournalReader(copy)


def _parsed(line: bytes) -> Any:
    try:
        return _decode(line)
    except REFUSALS:
        pass
    try:
        return mend.parse_json(line)[0]
    except (ValueError, RecursionError):
        return None
