"""Where journals are: `<root>/transcripts/<run-id>.jsonl`; the root is a project's storage or the archive."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from stenograph import config
from stenograph.errors import AmbiguousRun, RunNotFound, SourceError
from stenograph.model.ids import check_run_id

DEFAULT_ROOT = "storage"
ENVIRONMENT = "STENOGRAPH_STORAGE"
SUFFIX = ".jsonl"

Root = str | os.PathLike[str]


def storage_root(root: Root = DEFAULT_ROOT) -> Path:
    """The root to use: the given one; in place of the default, `$STENOGRAPH_STORAGE` or the configuration's."""
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
    """The journal for a path, a run id, or a unique beginning of one."""
    text = os.fspath(target)
    path = existing_path(text)
    if path is not None and path.is_dir():
        raise SourceError(f"{text} is a folder; name one journal in it", text)
    if path is not None:
        return path
    found = journals_of(text, root)
    if len(found) == 1:
        return found[0]
    if found:
        raise ambiguous(text, [file.stem for file in found])
    raise no_run(text, root)


def existing_path(text: str) -> Path | None:
    """The file or folder of that name; None where there is none. Raises `SourceError` without permission."""
    path = Path(text)
    try:
        return path if path.is_file() or path.is_dir() else None
    except PermissionError as error:
        raise SourceError(f"cannot read {text}: {error.strerror}; check its permissions", text) from error
    except OSError as error:
        raise RunNotFound(f"no file {text[:80]!r}: {error.strerror}; check the path", text) from error


def journals_of(prefix: str, root: Root = DEFAULT_ROOT, home: Path | None = None) -> list[Path]:
    """The journals whose run ids begin with `prefix`, those of the root before those of the archive (`home`)."""
    return [file for place in _places(root, home) for file in _starting_with(place / "transcripts", prefix.lower())]


def ambiguous(prefix: str, run_ids: Iterable[str]) -> AmbiguousRun:
    """The error for a prefix of several run ids."""
    ids = tuple(sorted(run_ids))
    shown = ", ".join(ids[:3]) + (" …" if len(ids) > 3 else "")
    return AmbiguousRun(f"{prefix} matches {len(ids)} runs ({shown}); give more of the run id", ids)


def no_run(text: str, root: Root = DEFAULT_ROOT, home: Path | None = None) -> RunNotFound:
    """The error for a text that is neither a file nor a run."""
    where = " or ".join(str(place / "transcripts") for place in _places(root, home))
    return RunNotFound(f"no file and no run {text!r} in {where}; check the id, --root or ${ENVIRONMENT}", text)


def _places(root: Root, home: Path | None = None) -> list[Path]:
    """The roots to search: agents' sessions are in the archive unless another root was given."""
    given = storage_root(root)
    if home is None and given != Path(DEFAULT_ROOT):
        return [given]
    return [given, home or archive_home()]


def _starting_with(folder: Path, prefix: str) -> list[Path]:
    if not re.fullmatch(r"[0-9a-f-]{1,36}", prefix):
        return []
    try:
        return [file for file in folder.iterdir() if file.suffix == SUFFIX and file.stem.startswith(prefix)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SourceError(f"cannot list {folder}: {error.strerror}; check its permissions", str(folder)) from error
