"""Canonical events of whatever a person names: unlike a reader, all runs of a file, a folder or a stream."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from stenograph.formats.base import FormatSpec, Report
from stenograph.journal.place import existing_path
from stenograph.model.event import Event
from stenograph.runs.problem import Problem, source_problems
from stenograph.runs.reader import RunReader
from stenograph.runs.target import Target, find_run, is_bundle
from stenograph.sources.conversion import Conversion, FileReport, convert, convert_stream
from stenograph.sources.detection import detect_file
from stenograph.sources.session import STREAM
from stenograph.sources.stored import address_of


class Converted:
    """Events of one or several runs: iterate it once; the reports of the files are complete at the end."""

    def __init__(self, events: Iterable[Event], files: list[FileReport], run: RunReader | None = None) -> None:
        self.files = files
        self.number = 0
        """Events so far."""
        self._events = events
        self._run = run

    def __iter__(self) -> Iterator[Event]:
        for event in self._events:
            self.number += 1
            yield event
        if self._run is not None:
            kind = self._run.kind
            report = Report(events=self.number)
            self.files.append(FileReport(path=kind.place, format="exchange", run_id=kind.run_id, report=report))

    def close(self) -> None:
        """Let go of the archive, where the run is in one."""
        if self._run is not None:
            self._run.close()

    def problems(self) -> tuple[Problem, ...]:
        """Parts that could not be read correctly."""
        return source_problems(self.files) if self._run is None else self._run.problems()


def converted(
    target: str,
    spec: FormatSpec | None = None,
    *,
    keep_raw: bool = True,
    root: Target | None = None,
    archive: Target | None = None,
) -> Converted:
    """The events of a file, a folder, standard input (`-`), or any run that `open_run` accepts.

    With `spec` the format is not detected. Raises what `open_run` raises.
    """
    if target == STREAM:
        return _of(convert_stream(sys.stdin.buffer, spec, keep_raw=keep_raw))
    if spec is not None or _is_for_formats(target):
        return _of(convert(Path(target), spec, keep_raw=keep_raw))
    run = RunReader(find_run(target, root, archive))
    return Converted(run.events(keep_raw=keep_raw), [], run)


def _of(conversion: Conversion) -> Converted:
    return Converted(conversion, conversion.files)


def _is_for_formats(target: str) -> bool:
    """Whether a format can read the target from disk; else it is a bundle, a damaged journal, or a run."""
    path = existing_path(target)
    if path is None:
        return address_of(Path(target))[1] is not None if "#" in target else False
    return path.is_dir() or (not is_bundle(path) and detect_file(path).spec is not None)
