"""Where journals live: `<root>/transcripts/<run-id>.jsonl`."""

from __future__ import annotations

import os
import re
from pathlib import Path

from stenograph.errors import AmbiguousRun, InvalidRunId, RunNotFound, SourceError
from stenograph.model.ids import check_run_id

DEFAULT_ROOT = "storage"
ENVIRONMENT = "STENOGRAPH_STORAGE"
SUFFIX = ".jsonl"

Root = str | os.PathLike[str]


def storage_root(root: Root = DEFAULT_ROOT) -> Path:
    """The root to use: the one given, or `$STENOGRAPH_STORAGE` in place of the default."""
    if os.fspath(root) == DEFAULT_ROOT:
        root = os.environ.get(ENVIRONMENT) or root
    return Path(root)


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
    folder = storage_root(root) / "transcripts"
    found = _starting_with(folder, text.lower())
    if len(found) == 1:
        return found[0]
    if found:
        ids = tuple(sorted(file.stem for file in found))
        shown = ", ".join(ids[:3]) + (" …" if len(ids) > 3 else "")
        raise AmbiguousRun(f"{text} fits {len(ids)} runs ({shown}); give more of the run id", ids)
    raise RunNotFound(f"no file and no run {text!r} in {folder}; check the id, --root or ${ENVIRONMENT}", text)


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


def _starting_with(folder: Path, prefix: str) -> list[Path]:
    if not re.fullmatch(r"[0-9a-f-]{1,36}", prefix):
        return []
    try:
        return [file for file in folder.iterdir() if file.suffix == SUFFIX and file.stem.startswith(prefix)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SourceError(f"cannot list {folder}: {error.strerror}; check its permissions", str(folder)) from error
