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
    """The file and the session that are meant; a file that is really called so is itself."""
    file, mark, session = str(path).rpartition("#")
    if mark and session and not path.exists() and Path(file).is_file():
        return Path(file), session
    return path, None


def chosen(sessions: list[StoredSession], wanted: str | None, found: Detection) -> list[StoredSession]:
    """The sessions of the one run that is wanted, by the beginning of its session id or run id; all without a wish."""
    if wanted is None:
        return sessions
    path, runs = found.path, _runs(sessions, found)
    fitting = [native for native in runs if native == wanted] or [
        native for native, run_id in runs.items() if native.startswith(wanted) or run_id.startswith(wanted)
    ]
    if not fitting:
        raise RunNotFound(f"{path} holds no session {wanted!r}; steno show {path} names the latest", path)
    if len(fitting) > 1:
        raise _ambiguous(f"{wanted!r} fits {len(fitting)} sessions of {path}", path, fitting)
    return [each for each in sessions if each.identity.native_id == fitting[0]]


def runs_of(found: Detection) -> dict[str, str]:
    """The runs in a file, oldest first: the agent's id of each, with ours. Most files hold one."""
    assert found.spec is not None
    stored = layout_of(found.spec.name).stored(Path(found.path))
    if stored is None:
        return {found.identity.native_id: found.run_id}
    with stored as sessions:
        return _runs(sessions, found)


def find_session(found: Detection, wanted: str) -> str:
    """The agent's id of the one session that is meant. Raises `RunNotFound` or `AmbiguousRun`."""
    assert found.spec is not None
    stored = layout_of(found.spec.name).stored(Path(found.path))
    if stored is None:
        raise RunNotFound(f"{found.path} holds one session and not several; leave out #{wanted}", found.path)
    with stored as sessions:
        return chosen(sessions, wanted, found)[0].identity.native_id


def identity_of(found: Detection, wanted: str | None) -> Identity:
    """What a file, or the session of it that is meant, tells about its run."""
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
