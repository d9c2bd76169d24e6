"""What a person names: a run, a journal, or an agent's own file."""

from __future__ import annotations

from pathlib import Path

from stenograph.errors import SourceError
from stenograph.journal.place import SUFFIX, find_journal
from stenograph.model.ids import check_run_id
from stenograph.sources.detection import detect_file
from stenograph.sources.stored import address_of, check_single


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
