"""The folder of an archive: its paths, and permissions so that only its user can read it."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from stenograph.archive.store.identity import ArchiveIdentity, read_identity
from stenograph.errors import StoreError
from stenograph.journal.place import archive_home


class Home(Struct, frozen=True):
    """The paths of one archive."""

    path: Path

    @property
    def kept(self) -> Path:
        """The packs: the bytes of the agents' files, which are the truth."""
        return self.path / "kept"

    @property
    def index(self) -> Path:
        """The index, which can always be made again from the packs."""
        return self.path / "index.db"

    @property
    def write_lock(self) -> Path:
        """Held by the process that writes packs and index."""
        return self.path / "write.lock"

    @property
    def watch_lock(self) -> Path:
        """Held by the one `steno watch`."""
        return self.path / "watch.lock"

    @property
    def push_lock(self) -> Path:
        """Held by the one `steno push`."""
        return self.path / "push.lock"

    @property
    def journals(self) -> Path:
        """Our own journals."""
        return self.path / "transcripts"

    @property
    def last_sync(self) -> Path:
        """An empty file, whose time is that of the last sync of all agents."""
        return self.path / "last_sync"

    @property
    def sent(self) -> Path:
        """Which spans of which runs `steno watch --otlp` has sent, and where to; only hashes of them."""
        return self.path / "sent.db"

    @property
    def send_lock(self) -> Path:
        """Held by the one process that sends."""
        return self.path / "send.lock"

    @property
    def evidence(self) -> Path:
        """What `steno evidence` keeps: its settings, the public key and the last checkpoint, never a private key."""
        return self.path / "evidence"

    @property
    def forgotten(self) -> Path:
        """The list of runs that were removed on purpose, which a sync does not keep again."""
        return self.path / "forgotten.jsonl"

    @property
    def unfinished(self) -> Path:
        """Exists while runs are being removed: after a crash, the next process that writes finishes the removal."""
        return self.path / "forget.json"

    def identity(self) -> ArchiveIdentity | None:
        """Which archive it is; None before the first sync. Raises `SourceError` for a file that cannot be read."""
        return read_identity(self.kept)

    def note_sync(self) -> None:
        """Note that the archive has now all that the agents of this machine wrote. Raises `StoreError`."""
        try:
            os.close(os.open(self.last_sync, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
            os.utime(self.last_sync)
        except OSError as error:
            message = f"cannot write {self.last_sync}: {error.strerror}; check its permissions"
            raise StoreError(message, str(self.last_sync)) from error

    def synced_at(self) -> float | None:
        """When `note_sync` was last called, in seconds since 1970; None before the first time."""
        try:
            return self.last_sync.stat().st_mtime
        except OSError:
            return None

    def make(self) -> None:
        """Make the folders, readable only by their user. Raises `StoreError` where that is not possible."""
        try:
            for folder in (self.path, self.kept):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                if folder.stat().st_mode & 0o077:
                    folder.chmod(0o700)
        except OSError as error:
            message = f"cannot make the archive {self.path}: {error.strerror}; check the path and its permissions"
            raise StoreError(message, str(self.path)) from error


def home_of(path: str | os.PathLike[str] | None = None) -> Home:
    """The archive at a path; without one, that of this machine (`archive_home`)."""
    return Home(Path(os.path.abspath(archive_home() if path is None else path)))  # noqa: PTH100  # links stay as given
