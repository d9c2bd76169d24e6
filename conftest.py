"""Options of the suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` writes what the formats give now as what is expected; review the diff."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden/**/expected.jsonl")
