"""export_run: one run in another format, with a report of what the format cannot hold."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stenograph.atomic_file import make_folder, write_atomically
from stenograph.errors import StoreError
from stenograph.export.exporter import Exporter, SideFile, exporter_named
from stenograph.fold.losses import LossReport
from stenograph.model.event import Event
from stenograph.runs.opening import open_run, reader_of
from stenograph.runs.reader import RunReader

if TYPE_CHECKING:
    from stenograph.runs.mask import Masker
    from stenograph.runs.target import Target


class Export:
    """A run in another format: the file, the files beside it, and what was lost. All in memory."""

    def __init__(self, exporter: Exporter, events: Iterable[Event], run_id: str, options: dict[str, str]) -> None:
        """`export_run` makes exports."""
        self._exporter = exporter
        self._report = LossReport(exporter.name, exporter.version, run_id)
        pieces: list[bytes] = []
        self.side_files: dict[str, bytes] = {}
        """The files beside the main one, by their names relative to its folder."""
        for piece in exporter(events, self._report, **options):
            if isinstance(piece, SideFile):
                self.side_files[piece.name] = piece.data
            else:
                pieces.append(piece)
        self.data = b"".join(pieces)
        """The main file."""

    @property
    def format(self) -> str:
        """The name of the format."""
        return self._exporter.name

    @property
    def run_id(self) -> str:
        """The run that was exported."""
        return self._report.run_id

    @property
    def losses(self) -> dict[str, Any]:
        """What was kept, changed and dropped: `format`, `version`, `run_id`, `carried`, `changed`, `dropped`."""
        return self._report.to_dict()

    @property
    def summary(self) -> str:
        """The losses in one line."""
        return str(self._report)

    @property
    def file_name(self) -> str:
        """The name of the main file when `write` gets a folder."""
        return f"{self.run_id or 'run'}{self._exporter.suffix}"

    def write(self, path: str | Path) -> list[Path]:
        """Write the export to a file, or into an existing folder; returns the written files, the main one first.

        Each file is written whole or not at all; files of the same names are replaced. Raises `StoreError`.
        """
        target = Path(path)
        if target.is_dir():
            target /= self.file_name
        written = [target]
        for name, data in self.side_files.items():
            file = target.parent / name
            try:
                make_folder(file.parent)
            except OSError as error:
                message = f"cannot create the folder {file.parent}: {error.strerror}; check the path"
                raise StoreError(message, str(file.parent)) from error
            write_atomically(file, [data])
            written.append(file)
        write_atomically(target, [self.data])
        return written


def export_run(run: RunReader | Target, to: str, *, redact: bool | Masker | None = None, **options: str) -> Export:
    """A run in another format.

    `run` is a reader or anything `open_run` takes, `to` the name of a format (`steno export --list`). `redact=True`
    masks every known secret; pass your own masker to mask by other rules. `options` are those of the format, such as
    `subagents="files"`.

    Raises `InvalidFormat`, `InvalidOption`, `InvalidTarget` for a run that the format cannot hold at all, and what
    `open_run` raises.
    """
    exporter = exporter_named(to)
    if not isinstance(run, RunReader):
        with open_run(run, redact=redact) as reader:
            return Export(exporter, reader.events(keep_raw=False), reader.kind.run_id, options)
    if redact is not None and redact is not False:
        run = reader_of(run.kind, redact)
    return Export(exporter, run.events(keep_raw=False), run.kind.run_id, options)
