"""Moving a torn tail aside without recording anything."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from stenograph.journal.file import JournalFile, torn_path
from stenograph.journal.reader import open_source


class Repair(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a repair did."""

    path: str
    torn_bytes: int
    """0 when there was nothing to do."""
    aside: str | None = None
    """Where the torn bytes are now."""
    last_seq: int


def repair_journal(path: str | os.PathLike[str]) -> Repair:
    """Move what follows the last newline to `<journal>.torn`; nothing else is touched."""
    journal = Path(path)
    os.close(open_source(journal))  # raises for a file that cannot be read, instead of making one
    file = JournalFile(journal)  # opening it for writing moves the tail
    try:
        return Repair(
            path=str(journal),
            torn_bytes=file.torn_bytes,
            aside=str(torn_path(journal)) if file.torn_bytes else None,
            last_seq=file.last_event.seq if file.last_event is not None else 0,
        )
    finally:
        file.close()
