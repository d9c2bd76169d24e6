"""Packs: append-only files of frames, each a piece of an agent's file. The index is made from them.

A frame is `MAGIC`, the lengths of header and payload and the header's CRC (`_PREFIX`), the header as JSON, and the
payload: a zstd frame with the content, and a skippable one with the salt of `Header.commit`. Any other bytes in a pack
are a torn tail at its end, or damage in its middle.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from hashlib import sha256
from pathlib import Path

import msgspec
import zstandard
from msgspec import Struct

from stenograph.disk import sync_data, sync_path, write_all
from stenograph.errors import SourceError, StoreError
from stenograph.formats.source_file import SourceFile

PACK_BYTES = 1 << 28
"""A new pack begins when the last one has grown beyond this."""
FRAME_BYTES = 1 << 22
"""The most bytes of a file in one frame."""
MAGIC = b"\x93SP1"
_PREFIX = struct.Struct("<4sIQI")
_HEADER_BYTES = 1 << 24
_LEVEL = 1
_SALT = 16
_SALT_FRAME = struct.pack("<II", 0x184D2A50, _SALT)
"""The bytes between content and salt: the header of a skippable zstd frame."""


Read = Callable[[int, int], bytes]
"""`read(length, at)`: at most `length` bytes from the offset `at`."""


class About(SourceFile, frozen=True, kw_only=True, omit_defaults=True):
    """What is kept of a file beside its bytes: enough to index it again without the agent's folder."""

    root: str
    """The folder under which it was found."""
    main: int | None = None
    """The number (`Header.file`) of the main file of its session; None for a main file."""


class Header(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a frame is."""

    kind: str
    """`bytes`: a piece of the file. `side`: the whole of another file that it refers to.

    `moved`: a new `about`, for a file with a new path, or one that now names its folder, version, branch or model.
    `forgotten`: the content of earlier frames was removed on purpose.
    """
    file: int
    version: int
    batch: int
    start: int = 0
    """Where in the file's version the bytes begin."""
    length: int = 0
    sha256: str = ""
    """The SHA-256 of the content, in packs from before `commit`."""
    commit: str = ""
    """The SHA-256 of salt and content: without the salt, the header alone cannot confirm a guess of the content."""
    name: str | None = None
    """The name of a side file, as the transcript has it."""
    about: About | None = None
    """In the first frame of a version, and where the file was moved."""
    leaves: list[int] = []
    """Of a `forgotten` frame: the numbers of the frames, counted over all packs, whose content was removed."""
    why: str = ""
    """Of a `forgotten` frame: the reason that was given; `at` is when, `by` who did it."""
    at: str = ""
    by: str = ""


class Place(Struct, frozen=True):
    """Where the payload of a frame is."""

    pack: int
    at: int
    size: int

    @property
    def end(self) -> int:
        """Where the next frame begins."""
        return self.at + self.size


class Damage(Struct, frozen=True):
    """Bytes of a pack that are not a frame."""

    pack: int
    start: int
    end: int


def pack_path(folder: Path, number: int) -> Path:
    """The file of a pack."""
    return folder / f"{number:06}.pack"


def packs_in(folder: Path) -> list[int]:
    """The numbers of the packs in a folder, in order."""
    return sorted(int(path.stem) for path in folder.glob("*.pack") if path.stem.isdecimal())


class PackWriter:
    """Appends frames. For the one process that holds the archive's lock."""

    def __init__(self, folder: Path) -> None:
        """Appends to the last pack, which must not have a torn tail: see `cut_tail`."""
        self._folder = folder
        self._number = max(packs_in(folder), default=0)
        self._fd: int | None = None
        self._end = 0
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
        self.written = 0
        """Bytes of payload and header that were appended."""

    def append(self, header: Header, data: bytes) -> tuple[Header, Place]:
        """Append one frame in one write; the header comes back with length and checksum filled in."""
        salt = os.urandom(_SALT) if data else b""
        header = msgspec.structs.replace(header, length=len(data), commit=commitment(salt, data) if data else "")
        text = msgspec.json.encode(header)
        payload = self._compressor.compress(data) + _SALT_FRAME + salt if data else b""
        frame = b"".join((_PREFIX.pack(MAGIC, len(text), len(payload), zlib.crc32(text)), text, payload))
        fd = self._opened()
        start = self._end
        try:
            write_all(fd, frame)
        except OSError as error:
            os.ftruncate(fd, start)
            path = pack_path(self._folder, self._number)
            raise StoreError(f"cannot write {path}: {error.strerror}; make room on the disk", str(path)) from error
        self._end = start + len(frame)
        self.written += len(frame)
        return header, Place(self._number, start + len(frame) - len(payload), len(payload))

    def _opened(self) -> int:
        if self._fd is not None and self._end >= PACK_BYTES:
            self.sync()
            self.close()
            self._number += 1
        if self._fd is None:
            self._number = self._number or 1
            path = pack_path(self._folder, self._number)
            try:
                self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise StoreError(f"cannot open {path}: {error.strerror}; check its permissions", str(path)) from error
            self._end = os.fstat(self._fd).st_size
        return self._fd

    def sync(self) -> None:
        """Wait until everything is on disk."""
        if self._fd is not None:
            sync_data(self._fd)

    def close(self) -> None:
        """Close the pack."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class Frame(Struct, frozen=True):
    """A frame of a pack."""

    text: bytes
    """The header, byte for byte: evidence is made over these bytes, so they are never encoded again."""
    header: Header
    place: Place


def scan(folder: Path, pack: int, start: int = 0) -> Iterator[tuple[Header, Place] | Damage]:
    """Every frame of a pack from an offset on, and the damage between them; payloads are not read."""
    for found in scan_frames(folder, pack, start):
        yield found if isinstance(found, Damage) else (found.header, found.place)


def scan_frames(folder: Path, pack: int, start: int = 0) -> Iterator[Frame | Damage]:
    """Every frame of a pack from an offset on with its header's bytes, and the damage between them."""
    path = pack_path(folder, pack)
    with path.open("rb") as file:
        yield from _frames(partial(os.pread, file.fileno()), pack, start, os.fstat(file.fileno()).st_size)


def frames_in(data: bytes) -> Iterator[Frame | Damage]:
    """Every frame of a piece of a pack that begins with a frame; places are offsets in the piece."""
    return _frames(lambda length, at: data[at : at + length], 0, 0, len(data))


def _frames(read: Read, pack: int, at: int, size: int) -> Iterator[Frame | Damage]:
    while at < size:
        found = _frame_at(read, pack, at, size)
        if found is None:
            following = _next_frame(read, pack, at + 1, size)
            yield Damage(pack, at, following)
            at = following
        else:
            yield found
            at = found.place.end


def _frame_at(read: Read, pack: int, at: int, size: int) -> Frame | None:
    prefix = read(_PREFIX.size, at)
    if len(prefix) < _PREFIX.size:
        return None
    magic, header_size, payload_size, crc = _PREFIX.unpack(prefix)
    payload = at + _PREFIX.size + header_size
    if magic != MAGIC or header_size > _HEADER_BYTES or payload + payload_size > size:
        return None
    text = read(header_size, at + _PREFIX.size)
    if zlib.crc32(text) != crc:
        return None
    try:
        return Frame(text, msgspec.json.decode(text, type=Header), Place(pack, payload, payload_size))
    except msgspec.MsgspecError:
        return None


def _next_frame(read: Read, pack: int, at: int, size: int) -> int:
    """Where the next sound frame begins; the end of the pack where there is none."""
    step = 1 << 20
    while at < size:
        window = read(step + len(MAGIC), at)
        found = window.find(MAGIC)
        if found < 0:
            at += step
        elif _frame_at(read, pack, at + found, size) is not None:
            return at + found
        else:
            at += found + 1
    return size


def cut_tail(folder: Path, damage: Damage) -> None:
    """Move a torn tail to a file of its own, and cut the pack before it."""
    path = pack_path(folder, damage.pack)
    aside = path.with_suffix(f".torn-{damage.start}")
    with path.open("rb") as file:
        data = os.pread(file.fileno(), damage.end - damage.start, damage.start)
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as out:
        out.write(data)
    os.truncate(path, damage.start)


def commitment(salt: bytes, data: bytes) -> str:
    """The value of `Header.commit` for a content."""
    digest = sha256(salt)
    digest.update(data)
    return digest.hexdigest()


def content_of(folder: Path, place: Place, header: Header) -> tuple[bytes, bytes]:
    """The salt and the bytes of a frame, checked by its header; older frames have no salt. Raises `SourceError`."""
    data = payload_of(folder, place, header.length)
    mark = salt = b""
    if header.commit:
        with pack_path(folder, place.pack).open("rb") as file:
            mark = os.pread(file.fileno(), len(_SALT_FRAME), place.end - _SALT - len(_SALT_FRAME))
            salt = os.pread(file.fileno(), _SALT, place.end - _SALT)
    if mark != (_SALT_FRAME if header.commit else b"") or not is_content(header, salt, data):
        path = pack_path(folder, place.pack)
        raise SourceError(f"{path} is damaged at byte {place.at}: the checksum differs; restore a backup", str(path))
    return salt, data


def is_content(header: Header, salt: bytes, data: bytes) -> bool:
    """Whether these bytes are the content that a header describes."""
    if len(data) != header.length:
        return False
    if header.commit:
        return commitment(salt, data) == header.commit
    return not data or sha256(data).hexdigest() == header.sha256


def payload_of(folder: Path, place: Place, length: int) -> bytes:
    """The bytes in a frame. Raises `SourceError` for a payload whose zstd checksum or length differs."""
    path = pack_path(folder, place.pack)
    try:
        with path.open("rb") as file:
            payload = os.pread(file.fileno(), place.size, place.at)
        data = _decompressor().decompress(payload, max_output_size=max(length, 1)) if length else b""
    except (OSError, zstandard.ZstdError) as error:
        raise SourceError(
            f"{path} is damaged at byte {place.at}: {error}; restore it from a backup", str(path)
        ) from error
    if len(data) != length:
        raise SourceError(f"{path} is damaged at byte {place.at}: the length differs; restore a backup", str(path))
    return data


_ZEROS = bytes(1 << 20)


def erase(folder: Path, pack: int, places: Iterable[Place]) -> None:
    """Overwrite payloads of a pack with zeros. Headers, and so the log, stay as they are, and nothing moves.

    A new file is written, with holes instead of zeros where the file system supports them, and then replaces the pack.
    For the one process that holds the archive's lock, with no `PackWriter` open.
    """
    path = pack_path(folder, pack)
    partial = path.with_suffix(".erasing")
    try:
        with path.open("rb") as old, os.fdopen(_create(partial), "wb") as new:
            size, at = os.fstat(old.fileno()).st_size, 0
            for place in (*sorted(places, key=lambda each: each.at), Place(pack, size, 0)):
                _copy(old.fileno(), new.fileno(), at, place.at)
                at = max(at, place.end)
            os.ftruncate(new.fileno(), size)
            os.fsync(new.fileno())
        os.replace(partial, path)  # noqa: PTH105  # a reader sees the old file or the new one
        sync_path(folder)
    except OSError as error:
        raise StoreError(f"cannot rewrite {path}: {error.strerror}; make room on the disk", str(path)) from error


def _create(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)


def _copy(old: int, new: int, start: int, end: int) -> None:
    while start < end:
        data = os.pread(old, min(len(_ZEROS), end - start), start)
        start += os.pwrite(new, data, start)


def is_erased(folder: Path, place: Place) -> bool:
    """Whether a payload is all zeros."""
    with pack_path(folder, place.pack).open("rb") as file:
        pieces = range(place.at, place.end, len(_ZEROS))
        return all(not any(os.pread(file.fileno(), min(len(_ZEROS), place.end - at), at)) for at in pieces)


@cache
def _decompressor() -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor()
