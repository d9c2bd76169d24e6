"""Which archive it is: an id that stays, and where the archive was made."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from stenograph.errors import SourceError, unreadable

FILE = "archive.json"


class ArchiveIdentity(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What `kept/archive.json` says."""

    id: str
    """A UUID, made once."""
    made_at: str
    host: str
    user: str
    team: str | None = None
    continues: str | None = None
    """The id of the archive that this one was until a store had another history under that id."""


def read_identity(kept: Path) -> ArchiveIdentity | None:
    """The identity of the archive with this folder of packs; None before the first sync, which makes it.

    Raises `SourceError` for a file that cannot be read: evidence and other archives know this one by it.
    """
    path = kept / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=ArchiveIdentity)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} does not say which archive it is: {error}; restore it from a backup") from error


def make_identity(kept: Path) -> None:
    """Write the file where there is none. For the one process that holds the archive's lock."""
    path = kept / FILE
    if not path.exists():
        import socket  # like the imports below, slow to load; a reader does not need it
        from uuid import uuid4

        from stenograph.atomic_file import write_atomically
        from stenograph.clock import utc_now

        made = ArchiveIdentity(id=str(uuid4()), made_at=utc_now(), host=socket.gethostname(), user=_user())
        write_atomically(path, [msgspec.json.encode(made) + b"\n"])


def renew_identity(kept: Path) -> ArchiveIdentity:
    """Give the archive another id, which continues the one that it had. For the process that holds its lock."""
    from uuid import uuid4

    from stenograph.atomic_file import write_atomically
    from stenograph.clock import utc_now

    old = read_identity(kept)
    if old is None:
        raise SourceError(f"{kept / FILE} is missing; run: steno sync", str(kept))
    new = replace(old, id=str(uuid4()), made_at=utc_now(), continues=old.id)
    write_atomically(kept / FILE, [msgspec.json.encode(new) + b"\n"])
    return new


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in a container
        return str(os.getuid())
