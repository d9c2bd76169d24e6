"""Signs checkpoints of an archive, each after everything that it counts is on disk.

Theory of operation. Under the archive's lock the log is read from the packs, the packs are synced to the disk, and only
then the checkpoint is signed and kept as `evidence/checkpoint`. So no checkpoint ever counts a frame that a crash could
take back. A log that does not begin with the last checkpoint is never signed: that would vouch for a changed history.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from stenograph.archive.store.home import Home
from stenograph.archive.store.identity import make_identity
from stenograph.archive.store.lock import Lock
from stenograph.archive.store.pack import pack_path, packs_in
from stenograph.disk import sync_path
from stenograph.errors import HistoryChanged, RunNotFound, StoreError
from stenograph.evidence.anchor import CHECKPOINT, load_anchor
from stenograph.evidence.checkpoint import Checkpoint
from stenograph.evidence.keys import load_signer, make_key
from stenograph.evidence.log import Log, origin_of
from stenograph.evidence.note import Note
from stenograph.evidence.settings import EvidenceSettings, is_initialised, read_settings, write_settings
from stenograph.evidence.tiles import write_file

VKEY = "vkey"
PATIENCE = 30.0


class SignedLog(Struct, frozen=True):
    """A log with its signed checkpoint."""

    log: Log
    checkpoint: Checkpoint
    note: Note

    @property
    def entries(self) -> list[bytes]:
        """The leaves."""
        return [frame.text for frame in self.log.frames]


def origin_of_archive(home: Home) -> str:
    """The name of an archive's log. Raises `RunNotFound` where there is no archive."""
    identity = home.identity()
    if identity is None:
        raise RunNotFound(f"there is no archive in {home.path} yet; run: steno sync", str(home.path))
    return origin_of(identity.id)


def initialise(home: Home, settings: EvidenceSettings) -> tuple[SignedLog, str]:
    """Set the key that signs an archive from now on; returns the first checkpoint, and the public key for verifiers.

    A key file that does not exist is made. Where another key signed before, both sign this checkpoint, so that a
    verifier with the old key can trust the new one.
    """
    key = Path(settings.key)
    if key.absolute().is_relative_to(home.path.absolute()):
        raise StoreError(f"{key} is inside the archive, whose copies would have the key; give a file elsewhere")
    if not key.exists():
        make_key(key)
    home.make()
    make_identity(home.kept)
    home.evidence.mkdir(mode=0o700, exist_ok=True)
    old = [Path(read_settings(home).key)] if is_initialised(home) else []
    signed = _signed(home, [each for each in old if each != key and each.exists()] + [key])
    vkey = load_signer(key, signed.checkpoint.origin).verifier_key.encode()
    write_file(home.evidence / VKEY, vkey.encode() + b"\n")
    write_settings(home, settings)
    return signed, vkey


def sign(home: Home) -> SignedLog:
    """Make a checkpoint of an archive. Raises `HistoryChanged` where it does not extend the last checkpoint."""
    return _signed(home, [Path(read_settings(home).key)])


def _signed(home: Home, keys: list[Path]) -> SignedLog:
    origin = origin_of_archive(home)
    signers = [load_signer(key, origin) for key in keys]
    lock = Lock(home.write_lock, "steno sync or steno watch")
    lock.acquire(PATIENCE)
    try:
        log = Log(home.kept)
        check_extends(log, origin, home.evidence / CHECKPOINT)
        for number in packs_in(home.kept):
            sync_path(pack_path(home.kept, number))
        checkpoint = log.checkpoint(origin)
        note = checkpoint.note()
        for signer in signers:
            note = signer.sign(note)
        keep_note(home, note)
    finally:
        lock.release()
    return SignedLog(log, checkpoint, note)


def keep_note(home: Home, note: Note) -> None:
    """Write the last checkpoint."""
    write_file(home.evidence / CHECKPOINT, note.encode())


def check_extends(log: Log, origin: str, path: Path) -> None:
    """Raise `HistoryChanged` for a log that does not extend the checkpoint at a path; without one, do nothing."""
    if not path.exists():
        return
    last = load_anchor(path).checkpoint
    if last.origin != origin:
        raise HistoryChanged(
            f"{path} is a checkpoint of {last.origin}, not of {origin}; give another folder", str(path)
        )
    if last.size > log.tree.size or log.tree.root(last.size) != last.root:
        message = f"the archive does not begin with what {path} says; run: steno evidence verify --against {path}"
        raise HistoryChanged(message, str(path))
