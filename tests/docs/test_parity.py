"""docs/parity.md: what agents report of one errand, from their golden cases; `--update-golden` rewrites it."""

from __future__ import annotations

from pathlib import Path

import pytest

import parity
from golden_cases import FOLDER
from parity import AGENTS, CHILD, DETOURS, FACTS, LEFT_OUT, MAIN, UNREPORTED, Account, assert_as_said, golden_account
from parity_page import page

PAGE = Path(__file__).parents[2] / "docs" / "parity.md"


@pytest.fixture(scope="module")
def accounts() -> dict[str, Account]:
    """By format, what each agent reported."""
    return {name: golden_account(name) for name in AGENTS}


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_reports_the_errand_but_for_what_is_named(name: str, accounts: dict[str, Account]) -> None:
    """Its entries are those of the errand, with its words, and what is said to be missing is, and nothing else."""
    assert_as_said(accounts[name])


def test_two_agents_differ_by_their_detours_only(accounts: dict[str, Account]) -> None:
    """Without the steps that one agent alone takes, all have the same entry types in order, or leave one out."""
    for name, account in accounts.items():
        rows = [row for row in (*MAIN, *CHILD) if row.what not in LEFT_OUT.get(name, {})]
        assert [account.entry(row.what).entry_type for row in rows] == [row.entry_type for row in rows]
        detour = DETOURS.get(name)
        assert len(account.main) + len(account.child) == len(rows) + (len(detour.rows) if detour else 0)


@pytest.mark.parametrize("name", AGENTS)
def test_a_claim_that_is_not_true_is_found(
    name: str, accounts: dict[str, Account], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a fact that an agent gives may be called missing, nor one that it does not give be left out."""
    said = UNREPORTED[name]
    for fact in FACTS:
        claims = {each: reason for each, reason in said.items() if each != fact}
        monkeypatch.setattr(parity, "UNREPORTED", {name: claims if fact in said else {**said, fact: "not so"}})
        with pytest.raises(AssertionError):
            assert_as_said(accounts[name])


def test_the_tables_speak_of_what_there_is() -> None:
    """Every claim is about an agent and a fact or row that exist, and has a reason."""
    assert set(UNREPORTED) | set(DETOURS) | set(LEFT_OUT) <= set(AGENTS)
    assert {row for rows in LEFT_OUT.values() for row in rows} <= {row.what for row in (*MAIN, *CHILD)}
    assert {fact for missing in UNREPORTED.values() for fact in missing} <= set(FACTS)
    assert {detour.after for detour in DETOURS.values()} <= {row.what for row in (*MAIN, *CHILD)}
    assert all(reason for missing in UNREPORTED.values() for reason in missing.values())


@pytest.mark.parametrize("name", AGENTS)
def test_a_case_is_of_the_version_that_the_page_names(name: str) -> None:
    """The page says which programs it is about; the cases come from those."""
    agent = AGENTS[name]
    assert f"**Version**: {agent.name} {agent.version}." in (FOLDER / name / "parity" / "origin.md").read_text("utf-8")


def test_the_page_is_what_the_cases_give(accounts: dict[str, Account], request: pytest.FixtureRequest) -> None:
    """Nobody writes the page by hand, and it does not fall behind."""
    if request.config.getoption("--update-golden"):
        PAGE.write_text(page(accounts), "utf-8")
    assert page(accounts) == PAGE.read_text("utf-8")
