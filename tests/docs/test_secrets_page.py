"""docs/secrets.md: our figures are as measured; `tools/secrets-page` writes it anew."""

from __future__ import annotations

from pathlib import Path

from secret_figures import found_by_us, of_harmless, of_secrets
from stenograph.redact import mask_text
from stenograph.redact.rules import built_in

PAGE = (Path(__file__).parents[2] / "docs" / "secrets.md").read_text("utf-8")


def test_the_page_has_our_figures_of_secrets() -> None:
    """At least as many are found as it says, and 95 % of all."""
    rows = of_secrets(found_by_us)
    for row in rows:
        assert f"| {row.what} | {row.tried} | {row.found} |" in PAGE
    assert sum(row.found for row in rows) >= 0.95 * sum(row.tried for row in rows)


def test_the_page_has_our_figures_of_what_is_not_a_secret() -> None:
    """But for code, which another Python has otherwise."""
    for row in of_harmless(lambda text: mask_text(text) != text)[1:]:
        assert f"| {row.what} | {row.tried} | {row.found} |" in PAGE


def test_the_page_names_every_rule() -> None:
    """What it is called in a mark, and what it is."""
    for rule in built_in().all:
        assert f"- `{rule.name}`: " in PAGE
        assert rule.about in PAGE
