"""Five agents do the same errand for real, and docs/parity.md tells what they report of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.errand import SESSIONS, errand, left_by
from agents.reading import read
from parity import AGENTS, Account, account_of, assert_as_said, golden_account
from parity_page import page

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the programs

PAGE = Path(__file__).parents[2] / "docs" / "parity.md"


@pytest.fixture(scope="module")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Account]:
    """What each agent reported now."""
    return dict(_accounts(tmp_path_factory.mktemp("parity")))


def _accounts(folder: Path) -> Iterator[tuple[str, Account]]:
    for name in SESSIONS:
        with errand(name, folder / name) as session:
            assert session.version == AGENTS[name].version, "make the golden cases again"
        yield name, account_of(name, read(left_by(session)).events)


@pytest.mark.parametrize("name", SESSIONS)
def test_an_agent_reports_the_errand_but_for_what_is_named(name: str, accounts: dict[str, Account]) -> None:
    """Its entries are those of the errand, with its words, and what is said to be missing is, and nothing else."""
    assert_as_said(accounts[name])


def test_the_page_tells_what_the_agents_report_today(accounts: dict[str, Account]) -> None:
    """The five programs give what the page has of them, to the letter; `make more-agents` runs the others."""
    others = {name: golden_account(name) for name in AGENTS if name not in accounts}
    assert page({name: accounts.get(name) or others[name] for name in AGENTS}) == PAGE.read_text("utf-8")
