"""Where journals live: `<root>/transcripts/<run-id>.jsonl`; the root is a project's storage or the archive."""

from __future__ import annotations

import os
import re
from pathlib import Path

from stenograph import config
from stenograph.errors import AmbiguousRun, InvalidRunId, RunNotFound, SourceError
from stenograph.model.ids import check_run_id

DEFAULT_ROOT = "storage"
ENVIRONMENT = "STENOGRAPH_STORAGE"
SUFFIX = ".jsonl"

Root = str | os.PathLike[str]


def storage_root(root: Root = DEFAULT_ROOT) -> Path:
    """The root to use: the one given, or in place of the default `$STENOGRAPH_STORAGE` or the configuration's."""
    if os.fspath(root) == DEFAULT_ROOT:
        root = config.value("archive.storage") or root
    return Path(root)


def archive_home() -> Path:
    """The folder that keeps the runs of this machine.

    It is `$STENOGRAPH_HOME`, else the configuration's `archive.home`, else where the system keeps a user's data.
    """
    given = config.value("archive.home")
    if given:
        return Path(given)
    from platformdirs import user_data_dir

    return Path(user_data_dir("stenograph"))


def recording_root(root: Root | None = None) -> Path:
    """Where an agent's session is recorded: the root given, or the one that is set (`storage_root`), or the archive."""
    return Path(root or config.value("archive.storage") or archive_home()).absolute()


def journal_path(root: Path, run_id: str) -> Path:
    """The journal of a run; the id is checked, so the path stays inside the root."""
    return root / "transcripts" / f"{check_run_id(run_id)}{SUFFIX}"


def find_journal(target: Root, root: Root = DEFAULT_ROOT) -> Path:
    """The journal that a person means: a path, a run id, or the unique beginning of one."""
    text = os.fspath(target)
    path = Path(text)
    try:
        if path.is_file():
            return path
        if path.is_dir():
            raise SourceError(f"{text} is a folder; name one journal in it", text)
    except PermissionError as error:
        raise SourceError(f"cannot look at {text}: {error.strerror}; check its permissions", text) from error
    except OSError as error:
        if isinstance(error, SourceError):
            raise
        raise RunNotFound(f"no file {text[:80]!r}: {error.strerror}; check the path", text) from error
    folders = [place / "transcripts" for place in _places(root)]
    found = [file for folder in folders for file in _starting_with(folder, text.lower())]
    if len(found) == 1:
        return found[0]
    if found:
        ids = tuple(sorted(file.stem for file in found))
        shown = ", ".join(ids[:3]) + (" …" if len(ids) > 3 else "")
        raise AmbiguousRun(f"{text} fits {len(ids)} runs ({shown}); give more of the run id", ids)
    where = " or ".join(map(str, folders))
    raise RunNotFound(f"no file and no run {text!r} in {where}; check the id, --root or ${ENVIRONMENT}", text)


def expected_journal(target: Root, root: Root = DEFAULT_ROOT) -> Path:
    """Like `find_journal`, but a journal that does not exist yet is fine when its name is complete."""
    try:
        return find_journal(target, root)
    except RunNotFound:
        text = os.fspath(target)
        if text.endswith(SUFFIX):
            return Path(text)
        try:
            return journal_path(storage_root(root), text)
        except InvalidRunId:
            pass
        raise


def _places(root: Root) -> list[Path]:
    """The roots in which to look: agents' sessions are in the archive unless somebody said otherwise."""
    given = storage_root(root)
    return [given] if given != Path(DEFAULT_ROOT) else [given, archive_home()]


def _starting_with(folder: Path, prefix: str) -> list[Path]:
    if not re.fullmatch(r"[0-9a-f-]{1,36}", prefix):
        return []
    try:
        return [file for file in folder.iterdir() if file.suffix == SUFFIX and file.stem.startswith(prefix)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SourceError(f"cannot list {folder}: {error.strerror}; check its permissions", str(folder)) from error
