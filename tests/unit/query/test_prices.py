"""What tokens cost."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.errors import SourceError
from stenograph.fold.prices import Cost, Price, Prices, Terms, TierRate
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
    assert load_prices().cost(Terms("claude-opus-5-5"), usage).dollars == pytest.approx(0.011904, abs=1e-9)


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
    assert load_prices().cost(Terms(name), Usage(input_tokens=1_000_000)) == Cost(None, is_partial=True)
    assert load_prices().cost(Terms(name), Usage()) == Cost(None)


def test_what_is_written_to_a_cache_for_an_hour_costs_twice_the_input() -> None:
    """Five minutes cost 1.25 times, and both are parts of what was written."""
    written = Usage(
        input_tokens=1_000_000, cache_creation_input_tokens=1_000_000, cache_creation_1h_input_tokens=400_000
    )
    assert load_prices().cost(Terms("claude-opus-4-8"), written) == Cost(pytest.approx(0.6 * 6.25 + 0.4 * 10))
    assert load_prices().cost(Terms("claude-sonnet-4"), written).dollars == pytest.approx(0.6 * 7.5 + 0.4 * 12)


def test_every_claude_model_has_a_price_for_an_hour() -> None:
    """It is twice the input, also for long inputs and in a batch; only Haiku 3 was listed at other multiples."""
    table = json.loads(resources.files("stenograph.query").joinpath("prices.json").read_text())
    for name, price in table["models"].items():
        for rate in (price, price.get("long"), *price.get("tiers", {}).values()):
            if name.startswith("claude") and "cache_write" in (rate or {}):
                assert rate["cache_write_1h"] == pytest.approx(2 * rate["input"]), name


@pytest.mark.parametrize(
    ("terms", "dollars"),
    [
        (Terms("claude-opus-4-8"), 30),
        (Terms("claude-opus-4-8", "standard", "standard"), 30),
        (Terms("claude-opus-4-8", "fast", "standard"), 60),
        (Terms("claude-opus-4-6", "fast"), 180),
        (Terms("claude-opus-4-8", None, "batch"), 15),
        (Terms("gpt-5", None, "default"), 11.25),
        (Terms("gpt-5", None, "flex"), 5.625),
        (Terms("gpt-5", None, "priority"), 22.5),
        (Terms("gpt-5", None, "fast"), 22.5),
        (Terms("gpt-5", None, "auto"), 11.25),
    ],
)
def test_tier_and_speed_have_their_own_price(terms: Terms, dollars: float) -> None:
    """In the words of the source; Codex says `fast` for the priority tier."""
    prices = Prices(load_prices()._models, "")
    small = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    assert prices.cost(terms, small, input_of_call=0) == Cost(pytest.approx(dollars))


@pytest.mark.parametrize("terms", [Terms("claude-opus-4-8", None, "priority"), Terms("gpt-5", "fast")])
def test_a_tier_or_speed_without_a_price_makes_the_cost_partial(terms: Terms) -> None:
    """It is priced as usual, and the cost is shown as the least that it can be."""
    assert load_prices().cost(terms, Usage(input_tokens=1_000_000)).is_partial


def test_a_long_input_in_a_tier_without_a_long_rate_is_partial() -> None:
    """The tier's own rate holds as far as it is known."""
    long = load_prices().price("gpt-5.5").long  # type: ignore[union-attr]
    price = Price(input=1, output=1, long=long, tiers={"flex": TierRate(input=0.5, output=0.5)})
    usage = Usage(input_tokens=1_000_000)
    assert Prices({"m": price}, "").cost(Terms("m", None, "flex"), usage) == Cost(0.5, is_partial=True)


def test_a_cost_that_the_source_reports_stands_for_itself() -> None:
    """A gateway knows what it charged; zero is what agents say where they know no price."""
    usage = Usage(input_tokens=1_000_000)
    assert load_prices().cost(Terms("fake-model"), usage, reported=0.25) == Cost(0.25)
    assert load_prices().cost(Terms("claude-opus-4-8"), usage, reported=0.0) == Cost(5)


def test_a_long_input_makes_the_whole_call_dearer() -> None:
    """The price changes above the bound, and for every token of the call."""
    prices = load_prices()
    at = prices.cost(Terms("gpt-5.5"), Usage(input_tokens=272_000, output_tokens=1_000_000)).dollars
    above = prices.cost(Terms("gpt-5.5"), Usage(input_tokens=272_001, output_tokens=1_000_000)).dollars
    assert at == pytest.approx(0.272 * 5 + 30)
    assert above == pytest.approx(0.272001 * 10 + 45)
    assert 272_000 in prices.thresholds


@given(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
def test_caches_never_make_a_call_cost_less_than_nothing(
    fresh: int, read: int, written: int, hour: int, out: int
) -> None:
    """Whatever an agent reports, also more cached tokens than input."""
    usage = Usage(
        input_tokens=fresh,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=written,
        cache_creation_1h_input_tokens=hour,
        output_tokens=out,
    )
    cost = load_prices().cost(Terms("claude-opus-5-5"), usage).dollars
    assert cost is not None
    assert cost >= 0


def test_the_table_says_of_which_day_it_is_and_where_it_is_from() -> None:
    """Prices change, so a table without a date is worth nothing."""
    table = json.loads(resources.files("stenograph.query").joinpath("prices.json").read_text())
    assert table["date"] == load_prices().date
    assert len(table["sources"]) == 3
    for name, price in table["models"].items():
        assert 0 < price["input"] <= price["output"], name
        assert 0 < price.get("cache_read", price["input"]) <= price["input"], name
        assert price.get("cache_write", price["input"]) >= price["input"], name


def test_a_file_of_ones_own_goes_over_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given, or named by the environment; what it does not have stays as shipped."""
    own = tmp_path / "prices.json"
    own.write_text('{"date": "2027-01-01", "models": {"Fake-Model": {"input": 1, "output": 2}}}')
    million = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    assert load_prices(own).cost(Terms("fake-model"), million).dollars == 3
    assert load_prices(own).cost(Terms("claude-opus-5-5"), million).dollars == 24
    monkeypatch.setenv("STENOGRAPH_PRICES", str(own))
    assert (load_prices().cost(Terms("fake-model"), million).dollars, load_prices().date) == (3, "2027-01-01")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"models": {"a": {"input": "1"}}}', '{"models": {"a": {"in": 1}}}', "\xff"]
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, text: str) -> None:
    """With its name and what is wrong."""
    own = tmp_path / "prices.json"
    own.write_bytes(text.encode("latin-1"))
    with pytest.raises(SourceError, match=r"prices\.json is not a table of prices: "):
        load_prices(own)
    with pytest.raises(SourceError, match="does not exist"):
        load_prices(tmp_path / "none.json")
