"""The pytest plugin: `steno_run` records a run for each test, `steno_replay` serves recorded answers of a model.

Every test session of every project loads this module, so it loads nothing else of ours until a test uses a fixture.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from stenograph.pytest_plugin.replay import ReplayForTest
    from stenograph.pytest_plugin.run import RunForTest

MODES = ("none", "once", "all")
_run_key = pytest.StashKey["RunForTest"]()
_replay_key = pytest.StashKey["ReplayForTest"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--steno-dir` and `--steno-record`, also as `steno_dir` and `steno_record` in the configuration."""
    group = parser.getgroup("stenograph", "recorded runs and replays")
    group.addoption(
        "--steno-dir", metavar="DIR", help="where the bundles and pages of failing tests go (steno-failures)"
    )
    group.addoption(
        "--steno-record",
        choices=MODES,
        help="none: recordings must exist (default); once: record missing ones; all: record every one again",
    )
    parser.addini("steno_dir", "where the bundles and pages of failing tests go", default="steno-failures")
    parser.addini("steno_record", "which recordings are made: none, once or all", default="none")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        "steno(recording, allow_diff=False, ignore=(), folders={}): "
        "the run that steno_replay serves, by its path beside the test",
    )


@pytest.fixture
def steno_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunForTest]:
    """A run for this test: record to `.run`, or `.read` an agent's own file; then `.calls()`, `.answer`, `.events`."""
    from stenograph.pytest_plugin.run import RunForTest

    found = RunForTest(request.node.nodeid, tmp_path_factory.mktemp("steno"))
    request.node.stash[_run_key] = found
    yield found
    found.close()


@pytest.fixture
def steno_replay(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReplayForTest]:
    """The recorded model of `@pytest.mark.steno("recording.jsonl")`; the environment directs the usual SDKs to it."""
    from stenograph.pytest_plugin.replay import opened

    mode = str(request.config.getoption("--steno-record") or request.config.getini("steno_record"))
    if mode not in MODES:
        raise pytest.UsageError(f"steno_record = {mode} is not a mode; use one of {', '.join(MODES)}")
    with opened(request.node.get_closest_marker("steno"), request.path.parent, mode) as found:
        for name, value in found.environment.items():
            monkeypatch.setenv(name, value)
        request.node.stash[_replay_key] = found
        yield found
        found.keep(is_good=not request.node.stash.get(_failed_key, False))


_failed_key = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A replay that differed from the recording fails its test; a failing test gets a bundle and a page of its run."""
    report = yield
    replay, run = item.stash.get(_replay_key, None), item.stash.get(_run_key, None)
    if replay is not None and report.when == "call" and report.passed and (difference := replay.difference()):
        report.outcome = "failed"
        report.longrepr = difference
    if not report.failed:
        return report
    item.stash[_failed_key] = True
    if run is not None:
        from stenograph.pytest_plugin.failure import attach

        error = str(call.excinfo.value) if call.excinfo is not None else str(report.longrepr)
        folder = item.config.getoption("--steno-dir") or item.config.getini("steno_dir")
        attach(item, report, run, error, item.config.rootpath / str(folder))
    return report
