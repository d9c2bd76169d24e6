"""What a person names: a run, a journal, or an agent's own file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stenograph.cli.archive import damage_told
from stenograph.errors import RunNotFound, SourceError
from stenograph.journal.place import DEFAULT_ROOT, SUFFIX, find_journal
from stenograph.model.ids import check_run_id
from stenograph.sources.detection import detect_file
from stenograph.sources.stored import address_of, check_single

if TYPE_CHECKING:
    from stenograph.archive import Archive


_ID = re.compile(r"[0-9a-f-]{1,36}")
"""A run id or the beginning of one."""


class Archived(NamedTuple):
    """A run of the archive."""

    archive: Archive
    run: int
    """Its number there (`runs.id`)."""


def find_run(target: str, root: str, *, archive_first: bool = False) -> tuple[Path, str] | Archived:
    """What `find_target` finds; else the run of that id, or of its unique beginning, in the archive.

    Of a run that the archive has, too, a journal is only what one witness told: it is taken where it holds more than
    the archive has of it. `archive_first`: the archive in any case, for what is no file. A root of one's own leaves
    the archive out.
    """
    may_be_archived = root == DEFAULT_ROOT and _ID.fullmatch(target.lower()) is not None and not Path(target).exists()
    found = _archived(target) if may_be_archived and archive_first else None
    if found is not None:
        return found
    try:
        path, name = find_target(target, root)
    except RunNotFound:
        found = _archived(target) if may_be_archived else None
        if found is None:
            raise
        return found
    if may_be_archived and (found := _archived(target)) is not None:
        if _is_kept(found.archive, path):
            return found
        found.archive.close()
    return path, name


def _is_kept(archive: Archive, path: Path) -> bool:
    """Whether the archive has all that a file holds."""
    row = archive.index.execute("SELECT kept FROM files WHERE path = ?", (str(path.resolve()),)).fetchone()
    return row is not None and row[0] == path.stat().st_size


def _archived(target: str) -> Archived | None:
    from stenograph.archive import Archive  # compression and a database, which a journal does without

    try:
        with damage_told():
            archive = Archive()
    except RunNotFound:
        return None
    try:
        with damage_told():
            return Archived(archive, archive.find_run(target)[0])
    except SourceError as error:
        archive.close()
        if isinstance(error, RunNotFound):
            return None
        raise


def find_target(target: str, root: str) -> tuple[Path, str]:
    """The file that is meant, and the format it is written in; `exchange` for journals of ours.

    A file that holds several runs is refused: `FILE#SESSION` names one of them.
    """
    file, session = address_of(Path(target))
    path = file if session is not None else find_journal(target, root)
    found = detect_file(path)
    if found.spec is not None:
        if session is None:
            check_single(found)
        return Path(target) if session is not None else path, found.spec.name
    if _may_be_journal(path):
        return path, "exchange"
    raise SourceError(f"{path} is written in no format we know; steno formats lists them", str(path))


def _may_be_journal(path: Path) -> bool:
    """Whether the name is a journal's, however its beginning looks; an empty file is an empty journal."""
    if path.stat().st_size == 0:
        return True
    try:
        return path.suffix == SUFFIX and bool(check_run_id(path.stem))
    except ValueError:
        return False
