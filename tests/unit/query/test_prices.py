"""What tokens cost."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.errors import SourceError
from stenograph.fold.usage import Usage
from stenograph.query.prices import load_prices

COUNTS = st.integers(0, 10**7)


def test_the_cost_of_a_real_session_is_what_the_agent_itself_says() -> None:
    """A `cost-state` of Claude Code 2.1.325 says 0.011904 dollars for these tokens."""
    usage = Usage(
        input_tokens=546 + 12_000 + 80,
        cache_read_input_tokens=12_000,
        cache_creation_input_tokens=80,
        output_tokens=346,
    )
    assert load_prices().cost("claude-opus-5-5", usage) == pytest.approx(0.011904, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("claude-opus-4-8[1m]", "claude-opus-4-8"),
        ("anthropic/claude-opus-4-8", "claude-opus-4-8"),
        ("openrouter/anthropic/claude-sonnet-4-6", "claude-sonnet-4-6"),
        ("claude-sonnet-4.6", "claude-sonnet-4-6"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("Claude-Haiku-4-5-20251001", "claude-haiku-4-5"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-5.2-chat-latest", "gpt-5.2-chat"),
        ("models/gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
    ],
)
def test_a_model_is_known_by_the_names_that_gateways_give_it(name: str, known: str) -> None:
    """Providers, dates and variants do not make another model."""
    prices = load_prices()
    assert prices.price(name) is not None
    assert prices.price(name) is prices.price(known)


@pytest.mark.parametrize("name", [None, "", "fake-model", "<synthetic>", "gpt-5.3-codex-spark", "gpt", "claude"])
def test_a_model_that_the_table_does_not_have_has_no_cost(name: str | None) -> None:
    """Never zero, and never that of a model whose name only begins alike."""
    assert load_prices().cost(name, Usage(input_tokens=1_000_000)) is None


def test_a_long_input_makes_the_whole_call_dearer() -> None:
    """The price changes above the bound, and for every token of the call."""
    prices = load_prices()
    at = prices.cost("gpt-5.5", Usage(input_tokens=272_000, output_tokens=1_000_000))
    above = prices.cost("gpt-5.5", Usage(input_tokens=272_001, output_tokens=1_000_000))
    assert at == pytest.approx(0.272 * 5 + 30)
    assert above == pytest.approx(0.272001 * 10 + 45)
    assert 272_000 in prices.thresholds


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_caches_never_make_a_call_cost_less_than_nothing(fresh: int, read: int, written: int, out: int) -> None:
    """Whatever an agent reports, also more cached tokens than input."""
    usage = Usage(
        input_tokens=fresh, cache_read_input_tokens=read, cache_creation_input_tokens=written, output_tokens=out
    )
    cost = load_prices().cost("claude-opus-5-5", usage)
    assert cost is not None
    assert cost >= 0


def test_the_table_says_of_which_day_it_is_and_where_it_is_from() -> None:
    """Prices change, so a table without a date is worth nothing."""
    table = json.loads(resources.files("stenograph.query").joinpath("prices.json").read_text())
    assert table["date"] == load_prices().date
    assert len(table["sources"]) == 3
    for name, price in table["models"].items():
        assert 0 < price["input"] < price["output"], name
        assert 0 < price.get("cache_read", price["input"]) <= price["input"], name
        assert price.get("cache_write", price["input"]) >= price["input"], name


def test_a_file_of_ones_own_goes_over_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given, or named by the environment; what it does not have stays as shipped."""
    own = tmp_path / "prices.json"
    own.write_text('{"date": "2027-01-01", "models": {"Fake-Model": {"input": 1, "output": 2}}}')
    million = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    assert load_prices(own).cost("fake-model", million) == 3
    assert load_prices(own).cost("claude-opus-5-5", million) == 24
    monkeypatch.setenv("STENOGRAPH_PRICES", str(own))
    assert (load_prices().cost("fake-model", million), load_prices().date) == (3, "2027-01-01")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"models": {"a": {"input": "1"}}}', '{"models": {"a": {"in": 1}}}', "\xff"]
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, text: str) -> None:
    """With its name and what is wrong."""
    own = tmp_path / "prices.json"
    own.write_bytes(text.encode("latin-1"))
    with pytest.raises(SourceError, match=r"prices\.json is no table of prices: "):
        load_prices(own)
    with pytest.raises(SourceError, match="does not exist"):
        load_prices(tmp_path / "none.json")
