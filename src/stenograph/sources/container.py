"""Files that hold many runs: a JSON document, a ZIP of them, or a table. A run is read when it is needed."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from stenograph.errors import SourceError, unreadable
from stenograph.formats.layout import Contents, State
from stenograph.model import mend
from stenograph.model.codec import REFUSALS
from stenograph.sources import parquet
from stenograph.sources.document import LARGEST
from stenograph.sources.files import Open

DAMAGED = (zipfile.BadZipFile, ValueError, RecursionError, NotImplementedError)
"""What reading a damaged file raises."""
ZIP = b"PK\x03\x04"
_ZSTANDARD = 93
"""The method of compression that Python's own reader does not support before 3.14."""
_LOCAL = struct.Struct("<4s5H3I2H")
_HEADS = ("header.json", "_journal/start.json", "conversations.json")
"""Members by which a ZIP is recognized."""


@contextmanager
def opened_container(path: Path, open: Open, parts: Mapping[str, Path] | None = None) -> Iterator[Contents]:
    """The JSON in a file, and in further files by their names. Raises `SourceError` where it cannot be read."""
    try:
        with open(path) as file:
            beginning = file.read(len(ZIP))
            if beginning == parquet.MAGIC:
                with parquet.opened_table(path) as table:
                    yield table
                return
            if beginning == ZIP:
                with zipfile.ZipFile(file) as members:
                    yield _ZipContainer(file, members)
            else:
                file.seek(0)
                yield _JsonContainer(file.read(LARGEST + 1), parts or {}, open)
    except SourceError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error
    except DAMAGED as error:
        raise SourceError(f"cannot read {path}: {error}; check that the file is whole", str(path)) from error


class _JsonContainer:
    """One JSON document, or a line of JSON for each; and the documents of further files."""

    def __init__(self, data: bytes, parts: Mapping[str, Path], open: Open) -> None:
        self.names: tuple[str, ...] = ("", *parts)
        self._data = data
        self._parts = parts
        self._open = open

    def read(self, name: str) -> Any:
        return _value(self._data if name == "" else self._part(name))

    def _part(self, name: str) -> bytes:
        with self._open(self._parts[name]) as file:
            return file.read(LARGEST + 1)

    def state(self, name: str) -> State | None:
        return None


def _value(data: bytes) -> Any:
    if len(data) > LARGEST:
        raise ValueError(f"larger than {LARGEST >> 20} MB")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return msgspec.json.decode(data)
    except REFUSALS:  # odd JSON, or many lines of it
        pass
    try:
        return mend.parse_json(data)[0]
    except ValueError:
        return [mend.parse_json(line)[0] for line in data.split(b"\n") if line.strip()]


class _ZipContainer:
    """The JSON members of a ZIP, by their names."""

    def __init__(self, file: BinaryIO, members: zipfile.ZipFile) -> None:
        self._file = file
        self._members = members
        self._infos = {info.filename: info for info in members.infolist() if info.filename.endswith(".json")}
        self.names = tuple(self._infos)

    def read(self, name: str) -> Any:
        info = self._infos[name]
        if info.file_size > LARGEST:
            raise ValueError(f"{name} is larger than {LARGEST >> 20} MB")
        data = self._zstandard(info) if info.compress_type == _ZSTANDARD else self._members.read(info)
        return mend.parse_json(data.removeprefix(b"\xef\xbb\xbf"))[0]

    def state(self, name: str) -> State | None:
        info = self._infos[name]
        return info.CRC, info.file_size

    def _zstandard(self, info: zipfile.ZipInfo) -> bytes:
        import zstandard  # only such archives need it

        self._file.seek(info.header_offset)
        head = _LOCAL.unpack(self._file.read(_LOCAL.size))
        self._file.seek(head[-2] + head[-1], 1)  # the name and the extra field
        data = self._file.read(info.compress_size)
        try:
            return zstandard.ZstdDecompressor().decompress(data, max_output_size=info.file_size)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error


def head_of_zip(path: Path, open: Open) -> list[Any]:
    """Records by which a ZIP's program is recognized: one with the names of its members, then those in `_HEADS`."""
    with opened_container(path, open) as container:
        names = set(container.names)
        found: list[Any] = [{"container": "zip", "names": list(container.names)}]
        for name in _HEADS:
            if name in names:
                value = container.read(name)
                found += value[:1] if isinstance(value, list) else [value]
        return found
