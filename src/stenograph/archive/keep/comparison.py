"""Whether a file on disk still begins with what was kept of it, at a bounded cost.

Docs/design/008-edited-files.md has the reasons and the figures.
"""

from __future__ import annotations

from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.keep.input_files import OpenInput
from stenograph.archive.store.kept_file import KeptFile
from stenograph.sources.ranges import DIGEST, RANGE, last_range, range_digest, range_digests

SMALL = 1 << 22
"""Bytes. A file of which at most this much was kept is compared whole whenever it changed."""
RANGES_AT_ONCE = 2
"""Ranges of a larger file that are compared when it is found changed. The others are left to the syncs after it."""
LEFT_BYTES = 1 << 24
"""The most bytes of files that did not change since that one sync compares."""
_RANGES_A_READ = 64
_DIGESTS = """
    SELECT first, digests FROM ranges
    WHERE file = ? AND version = ? AND first >= coalesce(
      (SELECT max(first) FROM ranges WHERE file = ? AND version = ? AND first <= ?), 0) AND first < ?
    ORDER BY first
"""


class Comparison:
    """Compares files with what is kept of them, in one sync."""

    def __init__(self, index: IndexWriter) -> None:
        self._index = index
        self._left = LEFT_BYTES // RANGE

    def is_same(self, file: KeptFile, source: OpenInput) -> bool:
        """Whether a file, whose status is not noted yet, begins with what was kept, as far as it is compared now.

        `file.unchecked` says how much is left.
        """
        status = source.status
        if file.is_as(status.st_size, status.st_mtime_ns, status.st_ino):
            wanted = min(file.unchecked, self._left)
            self._left -= wanted
            return self._has_ranges(file, source, wanted)
        if status.st_size < file.kept or not has_tail(file, source):
            return False
        file.unchecked = wanted = file.kept // RANGE
        is_replaced = file.inode not in (None, status.st_ino)
        if file.kept > SMALL and not is_replaced:
            wanted = min(wanted, RANGES_AT_ONCE)
        return self._has_ranges(file, source, wanted)

    def _has_ranges(self, file: KeptFile, source: OpenInput, wanted: int) -> bool:
        """Compare `wanted` ranges, from where the last comparison ended; after the last range comes the first."""
        whole = file.kept // RANGE
        while wanted:
            start = file.next_range % whole
            count = min(wanted, whole - start)
            if not self._has_series(file, source, start, count):
                return False
            file.next_range = start + count
            file.unchecked -= count
            wanted -= count
        return True

    def _has_series(self, file: KeptFile, source: OpenInput, start: int, count: int) -> bool:
        kept = self._digests(file, start, start + count)
        for at in range(0, count, _RANGES_A_READ):
            length = min(_RANGES_A_READ, count - at)
            data = source.read((start + at) * RANGE, length * RANGE)
            if b"".join(range_digests(data)) != kept[at * DIGEST : (at + length) * DIGEST]:
                return False
        return True

    def _digests(self, file: KeptFile, start: int, end: int) -> bytes:
        """The kept digests of ranges; fewer where some are missing, because a pack is damaged."""
        found = b""
        asked = (file.id, file.version, file.id, file.version, start, end)
        for first, digests in self._index.execute(_DIGESTS, asked).fetchall():
            number = start + len(found) // DIGEST
            if first > number:
                break
            found += digests[(number - first) * DIGEST :]
        return found[: (end - start) * DIGEST]


def has_tail(file: KeptFile, source: OpenInput) -> bool:
    """Whether the last range of what was kept is in the file as it was."""
    return file.kept == 0 or range_digest(source.read(*last_range(file.kept))) == file.tail
