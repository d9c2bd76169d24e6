"""Slices in files: `<base_dir>/<module>:<Class>.jsonl`, one JSON object per line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

from stenograph.errors import InvalidEvent
from stenograph.session.record import Record
from stenograph.session.slice import Slice, SliceStats
from stenograph.session.slice_file import SliceFile

T = TypeVar("T")


class JsonlSlice(Generic[T]):
    """Values in a file, which is read each time and never held in memory.

    A value that JSON has no form for in a field that may hold anything comes back as JSON has it: a tuple as a list.
    """

    def __init__(self, kind: type[T], base_dir: Path) -> None:
        self._record = Record(kind)
        if "/" in self._record.name or "\0" in self._record.name:
            raise InvalidEvent(f"no file can be named after {self._record.name!r}; rename the class")
        self._file = SliceFile(base_dir / f"{self._record.name}.jsonl")
        self._unreadable = 0

    @property
    def path(self) -> Path:
        """The file with the values; it is made with the first one."""
        return self._file.path

    def append(self, value: T) -> None:
        """Add a line; raises `StoreError` or, for a value that JSON cannot hold, `InvalidEvent`."""
        self._file.append(self._record.line(value))

    def replace(self, values: Iterable[T]) -> None:
        """Replace the file by one with these values; raises as `append` does."""
        self._file.replace([self._record.line(value) for value in values])

    def __iter__(self) -> Iterator[T]:
        unreadable = 0
        for line in self._file.lines():
            value = self._record.value(line)
            if value is None:
                unreadable += 1
            else:
                yield value
        self._unreadable = unreadable

    def latest(self) -> T | None:
        """The last value, read from the end of the file."""
        return next(
            (value for line in self._file.lines_back() if (value := self._record.value(line)) is not None), None
        )

    def stats(self) -> SliceStats:
        """What was moved aside, left out and replaced."""
        torn = self._file.torn + self._file.has_half_line()
        return SliceStats(torn=torn, unreadable=self._unreadable, replaced=self._record.replaced)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class JsonlSliceFactory:
    """Keeps values in files of one folder; existing files are continued."""

    def __init__(self, base_dir: str | os.PathLike[str]) -> None:
        self.base_dir = Path(base_dir)

    def create(self, kind: type[Any]) -> Slice[Any]:
        """The slice in the type's file."""
        return JsonlSlice(kind, self.base_dir)
