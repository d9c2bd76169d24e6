"""Logs of problems in processes whose output is not shown, such as hooks and collectors.

A line goes to `<root>/collectors/problems.log`. Where that cannot be written, because the place itself is missing or
full, it goes to the archive of this machine, and where that fails, too, to the folder for temporary files. A hook loads
this while an agent waits for it, so it imports next to nothing.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from pathlib import Path

FOLDER = "collectors"
PROBLEMS = "problems.log"
LARGEST_LOG = 1 << 20
"""Bytes at which a new log begins; the last one is kept as `problems.log.1`."""


def data_home() -> Path:
    """The same folder as `journal.place.archive_home`, which takes too long to load."""
    given = os.environ.get("STENOGRAPH_HOME")
    if given:
        return Path(given).absolute()
    if sys.platform == "linux":  # platformdirs takes longer to load than all the rest
        return Path(os.environ.get("XDG_DATA_HOME", "").strip() or Path("~/.local/share").expanduser(), "stenograph")
    from platformdirs import user_data_dir

    return Path(user_data_dir("stenograph"))


def problem_logs(root: Path | None = None) -> list[Path]:
    """Where problems of recording to `root` are written: to the first of these logs that can be written."""
    folders = [] if root is None else [root / FOLDER]
    try:
        folders.append(data_home() / FOLDER)
    except RuntimeError:  # this user has no home folder
        return [folder / PROBLEMS for folder in (*folders, _temporary())]
    folders.append(_temporary())
    return [folder / PROBLEMS for folder in dict.fromkeys(folders)]


def note(root: Path | None, problem: str) -> Path | None:
    """Add a line to the log of problems; returns the log, or None when no log can be written."""
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {os.getpid()} {' '.join(problem.split())}\n"
    data = line.encode("utf-8", "backslashreplace")
    for path in problem_logs(root):
        try:
            _append(path, data)
            return path
        except OSError:
            continue
    return None


def noted_problems(root: Path | None = None) -> list[tuple[Path, str]]:
    """Every line in the logs of problems, the oldest of each log first, each with its log."""
    found = []
    for path in problem_logs(root):
        for log in (path.with_name(f"{PROBLEMS}.1"), path):
            try:
                text = log.read_bytes().decode("utf-8", "replace")
            except OSError:
                continue
            found += [(log, line) for line in text.split("\n") if line]
    return found


def _temporary() -> Path:
    return Path(os.environ.get("TMPDIR") or "/tmp", f"stenograph-{os.getuid()}")


def _append(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.parent == _temporary():
        status = path.parent.lstat()  # another user may have made a folder of that name
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            raise PermissionError(f"{path.parent} is not ours")
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        if os.write(fd, data) < len(data):
            raise OSError("the disk is full")
        if os.fstat(fd).st_size > LARGEST_LOG:
            path.replace(path.with_name(f"{PROBLEMS}.1"))
    finally:
        os.close(fd)
