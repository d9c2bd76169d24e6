"""Where checkpoints are sent: folders, git repositories, witnesses, which the owner of the archive does not control."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from stenograph.archive.store.home import Home
from stenograph.errors import InvalidEvidence, StenographError, StoreError
from stenograph.evidence.anchor import CHECKPOINT
from stenograph.evidence.checkpoint import checkpoint_of
from stenograph.evidence.note import Note
from stenograph.evidence.settings import EvidenceSettings, read_settings
from stenograph.evidence.signing import SignedLog, check_extends, keep_note, sign
from stenograph.evidence.tiles import write_file, write_tiles
from stenograph.evidence.witness import ask_witness

_DATED = "checkpoints"
_WITNESSED = "witnessed.json"


def sign_and_deliver(
    home: Home, to: tuple[Path, ...] = (), witnesses: tuple[str, ...] = ()
) -> tuple[SignedLog, list[StenographError]]:
    """Make a checkpoint and send it to the configured places and those given here; returns what failed."""
    return deliver(home, sign(home), read_settings(home), to, witnesses)


def deliver(
    home: Home,
    signed: SignedLog,
    settings: EvidenceSettings,
    to: tuple[Path, ...] = (),
    witnesses: tuple[str, ...] = (),
) -> tuple[SignedLog, list[StenographError]]:
    """Send a checkpoint to witnesses, then with their cosignatures to folders; returns what failed."""
    problems: list[StenographError] = []
    note = signed.note
    for url in dict.fromkeys((*settings.all_witnesses(), *witnesses)):
        try:
            note = _witnessed(home, signed, note, url)
        except StenographError as error:
            problems.append(error)
    if note is not signed.note:
        keep_note(home, note)
        signed = SignedLog(signed.log, signed.checkpoint, note)
    for folder in dict.fromkeys((*settings.places(), *to)):
        try:
            write_place(folder, signed)
        except StenographError as error:
            problems.append(error)
    return signed, problems


def write_place(folder: Path, signed: SignedLog, at: datetime | None = None) -> int:
    """Write tiles, the checkpoint and a dated copy of it to a folder; in a git repository, commit them.

    How many files were written. Raises `HistoryChanged` rather than write over a checkpoint of another history.
    """
    check_extends(signed.log, signed.checkpoint.origin, folder / CHECKPOINT)
    count = write_tiles(folder, signed.log.tree, signed.entries, signed.note.encode())
    moment = (at or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    write_file(folder / _DATED / f"{moment}-{signed.checkpoint.size}", signed.note.encode())
    if (folder / ".git").exists():
        _commit(folder, signed.checkpoint.size)
    return count + 1


def _commit(folder: Path, size: int) -> None:
    what = [CHECKPOINT, _DATED, *(["tile"] if size else [])]
    _git(folder, "add", "--", *what)
    if _git(folder, "status", "--porcelain", "--", *what):
        _git(folder, "commit", "--quiet", "-m", f"Checkpoint of {size} leaves", "--", *what)


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise StoreError(f"cannot run git: {error.strerror}; install it", str(folder)) from error
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().partition("\n")[0]
        raise StoreError(f"git {arguments[0]} failed in {folder}: {reason}; try it by hand", str(folder))
    return done.stdout


def _witnessed(home: Home, signed: SignedLog, note: Note, url: str) -> Note:
    """The note with the cosignature of a witness; we note the size of the log that the witness has seen."""
    path = home.evidence / _WITNESSED
    try:
        seen = msgspec.json.decode(path.read_bytes(), type=dict[str, int]) if path.exists() else {}
    except (msgspec.MsgspecError, OSError) as error:
        raise InvalidEvidence(f"cannot read {path}: {error}; delete it", str(path)) from error
    for signature in ask_witness(url, signed.log.tree, signed.note, seen.get(url, 0)):
        note = note.with_signature(signature)
    write_file(path, msgspec.json.encode({**seen, url: checkpoint_of(note).size}))
    return note
