"""For tests that install programs into a cache folder: one process at a time, and again where a registry fails once."""

from __future__ import annotations

import contextlib
import fcntl
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

PAUSES = (2, 15, 60)
"""Seconds before an installation is tried again."""
_PATIENCE = 1200
"""Seconds after which one command of an installation hangs."""


@contextlib.contextmanager
def installing_alone(place: Path) -> Iterator[None]:
    """Let one process at a time install what belongs into this folder; makes the folder around it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def install_patiently(install: Callable[[], None], pauses: Sequence[float] = PAUSES) -> None:
    """Install something; when that fails, wait and begin again, since a registry may fail once. It tests nothing."""
    for pause in pauses:
        try:
            install()
        except pytest.fail.Exception:
            time.sleep(pause)
        else:
            return
    install()


def run_installer(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """What a command of an installation printed; a test whose program cannot be installed fails with the reason."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, env=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.fail(f"cannot run {' '.join(command)}: {error}", pytrace=False)
    if done.returncode != 0:
        reason = done.stderr.strip()[-800:] or "it does not say why"
        pytest.fail(f"cannot run {' '.join(command)}: {reason}", pytrace=False)
    return done.stdout
