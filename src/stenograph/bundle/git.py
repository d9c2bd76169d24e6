"""What git says about a folder: commit, branch, changes. Nothing is written, and no hook or external diff runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

_PATIENCE = 10.0
_LONGEST_DIFF = 8 << 20
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false", "--no-pager")


def git_facts(cwd: Path) -> dict[str, Any] | None:
    """Commit, branch, remotes and changed files; None outside of a repository."""
    top = git_output(cwd, "rev-parse", "--show-toplevel")
    if top is None:
        return None
    return {
        "top": _line(top),
        "commit": _line(git_output(cwd, "rev-parse", "HEAD")),
        "branch": _line(git_output(cwd, "rev-parse", "--abbrev-ref", "HEAD")),
        "describe": _line(git_output(cwd, "describe", "--always", "--dirty", "--tags")),
        "remotes": _lines(git_output(cwd, "remote", "--verbose")),
        "changes": _lines(git_output(cwd, "status", "--porcelain=v1", "--untracked-files=normal")),
    }


def git_diff(cwd: Path) -> bytes | None:
    """The diff from the last commit, at most 8 MiB of it; None outside of a repository or without a commit."""
    diff = git_output(cwd, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD")
    if diff is not None and len(diff) > _LONGEST_DIFF:
        # Between two lines: half of a secret is no secret that anybody would find and mask.
        whole = diff.rfind(b"\n", 0, _LONGEST_DIFF) + 1
        return diff[:whole] + b"[cut: the diff has %d bytes]\n" % len(diff)
    return diff


def git_output(cwd: Path, *arguments: str) -> bytes | None:
    """The output of git; None when it fails, or is not installed."""
    program = shutil.which("git")
    if program is None:
        return None
    done = subprocess.run(
        [program, *_QUIET, *arguments],
        cwd=cwd,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=_PATIENCE,
        env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
    )
    return done.stdout if done.returncode == 0 else None


def _line(output: bytes | None) -> str | None:
    return None if output is None else output.decode("utf-8", "replace").strip()


def _lines(output: bytes | None) -> list[str]:
    return [] if output is None else output.decode("utf-8", "replace").splitlines()
