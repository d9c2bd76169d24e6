"""A server that is not ours, on a port that the system chose for it."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def started_server(command: Sequence[str | Path], log: Path) -> Iterator[str]:
    """The address that a command prints when it listens (give it port 0); ended with the block."""
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            while (found := re.search(r"http://127\.0\.0\.1:[1-9]\d*(?=\D)", log.read_text())) is None:
                assert process.poll() is None, log.read_text()
                time.sleep(0.05)
            yield found[0]
        finally:
            process.kill()
