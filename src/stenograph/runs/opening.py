"""open_run: the one way to open a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stenograph.runs.kind import RunKind
from stenograph.runs.reader import RunReader
from stenograph.runs.target import Target, find_run

if TYPE_CHECKING:
    from stenograph.runs.mask import Masker


def open_run(
    target: Target,
    *,
    root: Target | None = None,
    archive: Target | None = None,
    redact: bool | Masker | None = None,
) -> RunReader:
    """A reader of the run that `target` names.

    `target` is a run id or the unique beginning of one; `@` or `last` for the newest run of the archive, `@2` for the
    one before; a journal; an agent's own file or folder; one session of a database (`opencode.db#SESSION`); or a
    bundle. `root` is the folder of journals, `archive` the folder of the archive; by default the usual ones.
    `redact=True` masks every known secret; a masker of your own, such as `default_masker()`, decides itself what to
    mask.

    Raises `RunNotFound`, `AmbiguousRun`, and `SourceError` for what cannot be read or has an unknown format.
    """
    return reader_of(find_run(target, root, archive), redact)


def reader_of(kind: RunKind, redact: bool | Masker | None = None) -> RunReader:
    """A reader of a run that was found."""
    if redact is None or redact is False:
        return RunReader(kind)
    from stenograph.runs.mask import RunMask  # many patterns, which are slow to load

    return RunReader(kind, RunMask(None if redact is True else redact))
