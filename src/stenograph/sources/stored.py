"""Naming one session of a file that holds many: `FILE#SESSION`."""

from __future__ import annotations

from pathlib import Path

from stenograph.errors import AmbiguousRun, RunNotFound
from stenograph.formats.base import Identity, run_id_of
from stenograph.formats.layout import StoredSession
from stenograph.sources.detection import Detection
from stenograph.sources.layouts import layout_of

_SHOWN = 3


def address_of(path: Path) -> tuple[Path, str | None]:
    """The file and the session of an address; a file whose name contains `#` has no session."""
    file, mark, session = str(path).rpartition("#")
    if mark and session and not path.exists() and Path(file).is_file():
        return Path(file), session
    return path, None


def chosen(sessions: list[StoredSession], wanted: str | None, found: Detection) -> list[StoredSession]:
    """The sessions of one run, by a unique beginning of its session id or run id; all when `wanted` is None."""
    if wanted is None:
        return sessions
    path, runs = found.path, _runs(sessions, found)
    matching = [native for native in runs if native == wanted] or [
        native for native, run_id in runs.items() if native.startswith(wanted) or run_id.startswith(wanted)
    ]
    if not matching:
        raise RunNotFound(f"{path} holds no session {wanted!r}; steno show {path} names the latest", path)
    if len(matching) > 1:
        raise _ambiguous(f"{wanted!r} matches {len(matching)} sessions of {path}", path, matching)
    return [each for each in sessions if each.identity.native_id == matching[0]]


def runs_of(found: Detection) -> dict[str, str]:
    """The runs in a file, oldest first: the agent's id of each, with ours. Most files hold one."""
    assert found.spec is not None
    stored = layout_of(found.spec.name).stored(Path(found.path))
    if stored is None:
        return {found.identity.native_id: found.run_id}
    with stored as sessions:
        return _runs(sessions, found)


def find_session(found: Detection, wanted: str) -> str:
    """The agent's id of a session, by a unique beginning of an id. Raises `RunNotFound` or `AmbiguousRun`."""
    assert found.spec is not None
    stored = layout_of(found.spec.name).stored(Path(found.path))
    if stored is None:
        raise RunNotFound(f"{found.path} holds one session and not several; leave out #{wanted}", found.path)
    with stored as sessions:
        return chosen(sessions, wanted, found)[0].identity.native_id


def identity_of(found: Detection, wanted: str | None) -> Identity:
    """The identity of the run in a file, or in one session of it."""
    assert found.spec is not None
    stored = layout_of(found.spec.name).stored(Path(found.path))
    if stored is None:
        return found.identity
    with stored as sessions:
        mains = [each for each in chosen(sessions, wanted, found) if each.identity.source == "main"]
        return mains[0].identity if mains else found.identity


def check_single(found: Detection) -> None:
    """Raise `AmbiguousRun` for a file that holds several runs."""
    runs = list(runs_of(found))
    if len(runs) > 1:
        raise _ambiguous(f"{found.path} holds {len(runs)} runs", found.path, runs)


def _runs(sessions: list[StoredSession], found: Detection) -> dict[str, str]:
    assert found.spec is not None
    return {each.identity.native_id: run_id_of(found.spec.name, each.identity.native_id) for each in sessions}


def _ambiguous(what: str, path: str, names: list[str]) -> AmbiguousRun:
    shown = ", ".join(names[-_SHOWN:]) + (" …" if len(names) > _SHOWN else "")
    return AmbiguousRun(f"{what} ({shown}); name one, as in {path}#{names[-1]}", tuple(names))
