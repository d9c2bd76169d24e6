"""Reads a zip that may come from anywhere: everything in it is checked before it is used.

It refuses names that lead out of the folder or that a terminal would interpret, links, duplicate names, encryption,
overlapping files, and zips that would grow beyond a limit. It does so on opening, before a byte is extracted.
"""

from __future__ import annotations

import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from stenograph.closing import Closing
from stenograph.errors import SourceError, unreadable

_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\\:]")
"""Control and direction characters, and path separators of other systems."""
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_ENCRYPTED = 1
_HEADER = 30
"""Bytes before the content of a file, at least."""
_LONGEST_NAME = 255
_CHUNK = 1 << 20
_BAD = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    IndexError,
    MemoryError,
)
"""What the standard library raises on broken zips."""


class ZipLimits(Struct, frozen=True, kw_only=True):
    """The most that a zip may extract to."""

    total_bytes: int = 16 << 30
    ratio: int = 500
    """As a multiple of the zip's own size; only above `small_bytes`, since logs compress well."""
    small_bytes: int = 1 << 30
    files: int = 100_000


class Container(Closing):
    """A checked zip with one folder that holds the files (`names`). Raises `SourceError` for any other zip."""

    def __init__(self, path: Path, limits: ZipLimits | None = None) -> None:
        self.path = path
        with self._source_errors():
            self._zip = zipfile.ZipFile(path)
        try:
            with self._source_errors():
                self.folder, self._infos = self._checked(limits or ZipLimits())
        except BaseException:
            self.close()
            raise

    @property
    def names(self) -> tuple[str, ...]:
        """The files, named below the folder, in the order in which the zip lists them."""
        return tuple(self._infos)

    def size(self, name: str) -> int:
        """The uncompressed size of a file; the zip says so, and reading never returns more."""
        return self._info(name).file_size

    def chunks(self, name: str) -> Iterator[bytes]:
        """The bytes of a file, piece by piece; raises `SourceError` when it is not there or broken."""
        info = self._info(name)
        with self._source_errors():
            file = self._zip.open(info)
        with file:
            while True:
                with self._source_errors():
                    chunk = file.read(_CHUNK)
                if not chunk:
                    return
                yield chunk

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of a file without their newlines, including a last one without newline; raises as `chunks` does."""
        rest: list[bytes] = []
        for chunk in self.chunks(name):
            first, *more = chunk.split(b"\n")
            rest.append(first)
            if more:
                yield b"".join(rest)
                yield from more[:-1]
                rest = [more[-1]]
        last = b"".join(rest)
        if last:
            yield last

    def read(self, name: str, limit: int = 64 << 20) -> bytes:
        """A small file whole; raises `SourceError` when it is larger than the limit."""
        if self.size(name) > limit:
            raise self._refusal(f"its {name} has {self.size(name):,} bytes, more than {limit:,}")
        return b"".join(self.chunks(name))

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = self._infos.get(name)
        if info is None:
            raise self._refusal(f"it has no {name}")
        return info

    def _checked(self, limits: ZipLimits) -> tuple[str, dict[str, zipfile.ZipInfo]]:
        infos = self._zip.infolist()
        if len(infos) > limits.files:
            raise self._refusal(f"it has {len(infos):,} files, more than {limits.files:,}")
        found: dict[str, zipfile.ZipInfo] = {}
        seen: set[str] = set()
        folders = set()
        for info in infos:
            parts = self._parts(info)
            key = unicodedata.normalize("NFC", info.filename.rstrip("/")).casefold()
            if key in seen:
                raise self._refusal(f"it has {info.filename!r} twice")
            seen.add(key)
            folders.add(parts[0])
            if not info.is_dir():
                self._check_file(info, parts)
                found["/".join(parts[1:])] = info
        if len(folders) != 1:
            raise self._refusal("it does not have one folder with everything in it")
        self._check_sizes(found.values(), limits)
        return folders.pop(), found

    def _parts(self, info: zipfile.ZipInfo) -> list[str]:
        """The parts of a name that stays within the folder."""
        # For the standard library a NUL ends a name; what the zip really says must be checked.
        name = info.orig_filename
        parts = name.removesuffix("/").split("/")
        is_long = any(len(part.encode("utf-8", "replace")) > _LONGEST_NAME for part in parts)
        if _ODD.search(name) or is_long or any(part in ("", ".", "..") for part in parts):
            raise self._refusal(f"it has a file with the name {name[:80]!r}")
        return parts

    def _check_file(self, info: zipfile.ZipInfo, parts: list[str]) -> None:
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise self._refusal(f"its {info.filename!r} is a link or not a plain file")
        if len(parts) < 2:
            raise self._refusal(f"its {info.filename!r} is outside of a folder")
        if info.flag_bits & _ENCRYPTED:
            raise self._refusal("it is encrypted")
        if info.compress_type not in _METHODS:
            raise self._refusal(f"its {info.filename!r} has an unsupported compression")

    def _check_sizes(self, infos: Collection[zipfile.ZipInfo], limits: ZipLimits) -> None:
        total = sum(info.file_size for info in infos)
        own = self.path.stat().st_size
        if total > limits.total_bytes or (total > limits.small_bytes and total > limits.ratio * own):
            raise self._refusal(f"its {own:,} bytes would extract to {total:,}, which is beyond the limit")
        end = 0
        for info in sorted(infos, key=lambda info: info.header_offset):
            if info.header_offset < end:
                raise self._refusal("files in it overlap")
            end = info.header_offset + _HEADER + info.compress_size

    @contextmanager
    def _source_errors(self) -> Iterator[None]:
        """Raise `SourceError` for what the standard library raises on a bad zip."""
        try:
            yield
        except SourceError:
            raise
        except OSError as error:
            raise unreadable(self.path, error) from error
        except _BAD as error:
            raise self._refusal(str(error) or type(error).__name__) from error

    def _refusal(self, why: str) -> SourceError:
        return SourceError(f"{self.path} is not a bundle that can be opened: {why}", str(self.path))
