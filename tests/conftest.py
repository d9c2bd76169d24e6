"""What every test shares: strict guards, no storage but its own, real child processes."""

from __future__ import annotations

import functools
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

settings.register_profile(
    "ours", deadline=None, derandomize=True, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fuzz", settings.get_profile("ours"), derandomize=False, max_examples=1000, print_blob=True)
settings.load_profile("ours")  # `--hypothesis-profile=fuzz` comes after this, and before any test is loaded

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that ignores Ctrl-C hands that down to all it starts: to us, and to what the tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ["TZ"] = "UTC"  # some agents write local times: their golden cases are of a machine in UTC
time.tzset()
if sys.version_info < (3, 13):
    # What Python 3.13 warns of is found on every Python.
    class _Connection(sqlite3.Connection):
        _is_open = True

        def close(self) -> None:
            self._is_open = False
            super().close()

        def __del__(self) -> None:
            if self._is_open:
                warnings.warn(f"unclosed database {self!r}", ResourceWarning, source=self)  # noqa: B028

    sqlite3.connect = functools.partial(sqlite3.connect, factory=_Connection)


def pytest_configure(config: pytest.Config) -> None:
    """Draw the same inputs whatever ran before.

    Hypothesis also draws constants of the modules that are loaded at that moment. In `make test`, which are loaded
    depends on the tests that the worker happened to get, and a test would be red by chance; `make fuzz` draws them.
    """
    if config.getoption("hypothesis_profile", None) != "fuzz":  # test_suite_rules.py holds that this has its effect
        nothing = providers._local_constants  # empty until modules are looked at
        providers._get_local_constants = lambda: nothing


FIRST = ("browser", "docs", "integration")
"""Folders whose tests wait for other processes: begun last, one of them would be waited for at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one worker begin with the tests that wait, while the others have work for the processors until the end."""
    tests = Path(__file__).parent
    items.sort(key=lambda item: item.path.relative_to(tests).parts[0] not in FIRST)


PATIENCE = 240
"""Seconds after which something hangs, less than a test may take; nothing is measured by it."""


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Our own errors reach the test; nobody's storage and nobody's archive is touched, and nothing outlives it."""
    monkeypatch.setenv("STENOGRAPH_STRICT", "1")
    monkeypatch.setenv("STENOGRAPH_CONFIG", os.devnull)
    monkeypatch.setenv("STENOGRAPH_INDEX", "0")  # a process of its own for every recording of every test is too many
    for name in ("STORAGE", "TEXTS", "THREAD", "CHAT", "MODE"):
        monkeypatch.delenv(f"STENOGRAPH_{name}", raising=False)
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path_factory.getbasetemp() / "archive"))


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guards as a host has them: they log and count."""
    monkeypatch.delenv("STENOGRAPH_STRICT")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A storage root that does not exist yet."""
    return tmp_path / "storage"


Python = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def python() -> Python:
    """Runs a script in a process of its own: `python(script, *arguments)`; it must end well unless `check=False`."""

    def run(
        script: str, *arguments: object, check: bool = True, prefix: tuple[str, ...] = (), **more: object
    ) -> subprocess.CompletedProcess[str]:
        command = [*prefix, sys.executable, "-W", "error", "-c", textwrap.dedent(script), *map(str, arguments)]
        options = {"capture_output": True, "text": True, "timeout": PATIENCE, **more}
        done = subprocess.run(command, **options)  # type: ignore[call-overload]
        assert not check or done.returncode == 0, done.stderr
        return done  # type: ignore[no-any-return]

    return run
