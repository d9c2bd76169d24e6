"""What a command reads of a folder's files, as the kernel saw it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

READS = "read,pread64,readv,preadv,preadv2,mmap,sendfile,splice,copy_file_range"
STATUSES = "newfstatat,fstatat64,stat,lstat,statx"
_CALL = re.compile(r'^(\w+)\((?:(?:AT_FDCWD\S*, )?"([^"]*)"|.*?\d+<([^>]*)>).*\)\s+= (\d+|0x\w+)', re.MULTILINE)
PATIENCE = 1200


@cache
def strace_works() -> bool:
    """Whether system calls can be watched here."""
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode == 0


needs_strace = pytest.mark.skipif(not strace_works(), reason="needs strace")


def steno_sync(archive: Path, *arguments: str | Path, prefix: tuple[str, ...] = ()) -> dict[str, Any]:
    """The real command; what it says of itself."""
    command = [*prefix, sys.executable, "-m", "stenograph", "sync", "--json", *map(str, arguments)]
    environment = {**os.environ, "STENOGRAPH_HOME": str(archive)}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def traced_sync(archive: Path, option: str, folder: Path, logs: Path) -> tuple[dict[str, Any], Counter[str]]:
    """The same of one folder (`--home` or `--path`), and how many bytes the kernel gave it of each file in there."""
    summary = steno_sync(archive, option, folder, prefix=tracing(logs, READS))
    read: Counter[str] = Counter()
    for name, path, result in traced(logs):
        if path.startswith(f"{folder}/"):
            assert name != "mmap" or path.endswith("-shm"), f"{path} is mapped, and what is read of it not counted"
            read[path] += int(result) if name != "mmap" else 0
    return summary, read


def tracing(logs: Path, calls: str) -> tuple[str, ...]:
    """The beginning of a command whose system calls are to be noted."""
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir()
    return ("strace", "-ff", "--seccomp-bpf", "-y", "-s", "4096", "-e", f"trace={calls}", "-o", str(logs / "calls"))


def traced(logs: Path) -> Iterator[tuple[str, str, str]]:
    """The calls that were noted and went well: name, path and result."""
    for log in logs.iterdir():
        for name, by_name, by_number, result in _CALL.findall(log.read_text(errors="replace")):
            yield name, by_name or by_number, result
