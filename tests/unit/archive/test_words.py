"""How text is cut into words."""

from __future__ import annotations

import time

import pytest

from stenograph.archive.words import camel_parts, searchable, spaced


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("parseHttpRequest", ["parse", "Http", "Request"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("snake_case plain WORD", []),
    ],
)
def test_camel_case_is_taken_apart(text: str, parts: list[str]) -> None:
    """The parts of a CamelCase name are words; other names have none."""
    assert b" ".join(camel_parts(text.encode())).decode().split() == parts


def test_scripts_without_spaces_are_spaced() -> None:
    """Every character of such a script stands alone; others stay together."""
    assert spaced("修复bug了").split() == ["修", "复", "bug", "了"]
    assert spaced("plain") == "plain"


@pytest.mark.parametrize("text", ["a" * 10**6, "aB" * 10**6, "A" * 10**6, "a1" * 10**6])
def test_one_endless_word_takes_no_time(text: str) -> None:
    """Text without a space, as base64 is, costs what any other text costs."""
    began = time.perf_counter()
    searchable(text)
    assert time.perf_counter() - began < 5
