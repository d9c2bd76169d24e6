"""What a command printed, kept until it is known whether it is needed."""

from __future__ import annotations

import os
import tempfile
import threading
from typing import IO

HEAD = 1 << 16
IN_MEMORY = 1 << 20
LONGEST = 1 << 20


class Output:
    """The output of one command: the first MiB in memory, the rest in a file without a name. One thread adds to it."""

    def __init__(self) -> None:
        self.head = b""
        """The beginning: the first 64 KiB and a little more."""
        self.lost = 0
        """Bytes that could not be kept."""
        self._kept: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # until `forget`
        self._lock = threading.Lock()  # protects what is kept

    def add(self, data: bytes) -> None:
        """Keep it; never raises."""
        if len(self.head) < HEAD:
            self.head += data
        with self._lock:
            try:
                if not self._kept.closed:
                    self._kept.write(data)
            except OSError:  # no room for temporary files
                self.lost += len(data)

    def forget(self) -> None:
        """Drop it, and what is still to come."""
        with self._lock:
            self._kept.close()

    def stream(self) -> IO[bytes]:
        """All of it from the beginning, when nothing is added any more."""
        self._kept.seek(0)
        return self._kept

    def text(self) -> str:
        """All of it as text, without the middle when it is longer than a MiB."""
        size = self._kept.seek(0, os.SEEK_END)
        self._kept.seek(0)
        if size <= LONGEST:
            return self._kept.read().decode("utf-8", "replace")
        beginning = self._kept.read(LONGEST // 2).decode("utf-8", "replace")
        self._kept.seek(size - LONGEST // 2)
        end = self._kept.read().decode("utf-8", "replace")
        return f"{beginning}\n[… {size - LONGEST} bytes left out …]\n{end}"
