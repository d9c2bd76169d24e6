"""Options of the suite."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

_skipped: set[str] = set()
"""Tests that did not run, as `file::function`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` writes what the formats give now as what is expected; review the diff."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden/**/expected.jsonl")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember what was skipped."""
    if report.skipped:
        _skipped.add(report.nodeid.partition("[")[0])


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A promise of docs/contract.md whose proof was skipped is not proved: the run fails."""
    contract = (Path(__file__).parent / "docs" / "contract.md").read_text("utf-8")
    unproved = sorted(name for name in _skipped if f"`{name}`" in contract)
    if unproved and session.exitstatus == pytest.ExitCode.OK:
        print(f"\nskipped, though docs/contract.md rests on them: {', '.join(unproved)}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


class ByParameters(LoadScopeScheduling):
    """Tests of one file with the same parameters share a worker, and so what a fixture made for them.

    This is instead of xdist's own groups, which it makes by a name that pytest 9.2 does not know any more: each of two
    workers then made everything, and both at the same time.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        _, bracket, parameters = test.partition("[")
        return f"{file}[{parameters}" if bracket else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    """`--dist loadgroup` is ours."""
    return ByParameters(config, log) if config.getoption("dist") == "loadgroup" else None
