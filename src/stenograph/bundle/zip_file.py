"""Writing the zip: files that are compressed already, one after the other, and the seal.

The standard library reads zips, and ours must be valid for it; but it would compress everything here once more, in the
waiting thread. Nothing depends on the file system: names, modes and times are given.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from stenograph.bundle.seal import MARK, SIZE
from stenograph.bundle.zip_member import Packed

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_UNIX = 3 << 8
_DEFLATE = 8
_MODE = (stat.S_IFREG | 0o600) << 16
_PLAIN, _LARGE = 20, 45
"""Versions of the zip format: with deflate, and with sizes beyond 32 bits."""
_IN_64_BITS = 0xFFFF_FFFF
"""In a 32-bit field: the value is in a 64-bit field."""
_FILES_IN_64_BITS = 0xFFFF
LIMIT = _IN_64_BITS
"""Values from here on do not fit in 32 bits."""
LIMIT_FILES = _FILES_IN_64_BITS
_CHUNK = 1 << 20


def write_zip(path: Path, folder: str, files: Iterable[Packed], at: datetime) -> None:
    """Write the files into a new sealed zip, below one folder and in order, and sync it to disk."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
        zip_file = _ZipFile(out, at)
        for each in files:
            zip_file.add(f"{folder}/{each.name}", each)
        zip_file.end()
        out.flush()
        os.fsync(out.fileno())


class _ZipFile:
    def __init__(self, out: BinaryIO, at: datetime) -> None:
        self._out = out
        self._offset = 0
        self._digest = sha256()
        self._central: list[bytes] = []
        self._time = at.hour << 11 | at.minute << 5 | at.second // 2
        self._date = max(0, at.year - 1980) << 9 | at.month << 5 | at.day

    def add(self, name: str, file: Packed) -> None:
        offset = self._offset
        encoded = name.encode()
        wide = struct.pack("<2H2Q", 1, 16, file.size, file.packed_size) if _is_large(file) else b""
        sizes = (_IN_64_BITS, _IN_64_BITS) if wide else (file.packed_size, file.size)
        version = _LARGE if wide else _PLAIN
        common = (0, _DEFLATE, self._time, self._date, file.crc, *sizes, len(encoded))
        self._write(_LOCAL.pack(b"PK\3\4", version, *common, len(wide)) + encoded + wide)
        with file.path.open("rb") as packed:
            while chunk := packed.read(_CHUNK):
                self._write(chunk)
        self._central.append(_entry(encoded, file, offset, common))

    def end(self) -> None:
        start, count = self._offset, len(self._central)
        for entry in self._central:
            self._write(entry)
        size = self._offset - start
        if start >= LIMIT or size >= LIMIT or count >= LIMIT_FILES:
            end = self._offset
            self._write(_END_64.pack(b"PK\6\6", 44, _UNIX | _LARGE, _LARGE, 0, 0, count, count, size, start))
            self._write(_LOCATOR_64.pack(b"PK\6\7", 0, end, 1))
            start, size, count = _IN_64_BITS, _IN_64_BITS, _FILES_IN_64_BITS
        self._write(_END.pack(b"PK\5\6", 0, 0, count, count, size, start, SIZE) + MARK)
        self._write(self._digest.hexdigest().encode())

    def _write(self, data: bytes) -> None:
        self._out.write(data)
        self._digest.update(data)
        self._offset += len(data)


def _is_large(file: Packed) -> bool:
    return file.size >= LIMIT or file.packed_size >= LIMIT


def _entry(name: bytes, file: Packed, offset: int, common: tuple[int, ...]) -> bytes:
    """A file's entry in the central directory."""
    wide = []
    if _is_large(file):
        wide += [file.size, file.packed_size]
    if offset >= LIMIT:
        wide.append(offset)
        offset = _IN_64_BITS
    extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
    version = _LARGE if wide else _PLAIN
    return (
        _CENTRAL.pack(b"PK\1\2", _UNIX | version, version, *common, len(extra), 0, 0, 0, _MODE, offset) + name + extra
    )
