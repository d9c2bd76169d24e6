"""The commits that last changed a file or a line of it; none outside a repository."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from msgspec import Struct

from stenograph.bundle.git import git_output

_FIELDS = "%H%x00%an%x00%aI%x00%s"
_NOT_COMMITTED = "0" * 40


class Commit(Struct, frozen=True, kw_only=True):
    """One commit."""

    commit: str
    author: str
    date: str
    subject: str


def commits_of(path: Path, line: int | None = None, most: int = 3) -> list[Commit]:
    """The newest commits of a file; with `line`, the one that the line comes from, unless it is not committed yet."""
    if not path.parent.is_dir():
        return []
    try:
        if line is None:
            output = git_output(path.parent, "log", f"-n{most}", f"--format={_FIELDS}", "--", path.name)
            return [_commit(each) for each in _text(output).splitlines() if each.count("\0") == 3]
        output = git_output(path.parent, "blame", f"-L{line},{line}", "--porcelain", "--", path.name)
        found = re.match(r"[0-9a-f]{40}", _text(output))
        if found is None or found[0] == _NOT_COMMITTED:
            return []
        shown = git_output(path.parent, "show", "--no-patch", f"--format={_FIELDS}", found[0])
        return [_commit(each) for each in _text(shown).splitlines() if each.count("\0") == 3][:1]
    except (subprocess.TimeoutExpired, OSError):  # git does not answer
        return []


def _commit(text: str) -> Commit:
    commit, author, date, subject = text.split("\0")
    return Commit(commit=commit, author=author, date=date, subject=subject)


def _text(output: bytes | None) -> str:
    return "" if output is None else output.decode("utf-8", "replace")
