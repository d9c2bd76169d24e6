"""Figures for docs/secrets.md: how many secrets of our own making are found, and how much that is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from harmless_texts import code_snippets, digests, lock_files
from secret_places import ANY_VALUE, FOR_WORDS, VALUES, WORDS
from stenograph.redact import mask_text
from stenograph.redact.rules import built_in, filled

Hides = Callable[[str, str], bool]
"""Whether a program finds a secret in a text."""


class Figure(NamedTuple):
    """One row of the table: what was tried, how often, and how often something was found."""

    what: str
    tried: int
    found: int


def found_by_us(text: str, secret: str) -> bool:
    """Whether a masked text lacks the secret."""
    return secret not in mask_text(text)


def of_secrets(finds: Hides) -> list[Figure]:
    """Secrets in natural places, by what these are, then tokens of every rule, bare in a sentence."""
    rows = []
    for group, places in ANY_VALUE.items():
        cases = [(place.format(value), value) for place in places for value in VALUES]
        rows.append(
            Figure(f"{group}: {len(places)} places, {len(VALUES)} values each", len(cases), _count(finds, cases))
        )
    words = [(place.format(value), value) for place in FOR_WORDS for value in WORDS]
    rows.append(Figure(f"{len(FOR_WORDS)} places with words as passwords", len(words), _count(finds, words)))
    tokens = [filled(rule.example) for rule in built_in().all]
    bare = [(f"Please use {token} for that.", token) for token in tokens]
    rows.append(Figure("tokens of providers, bare in a sentence", len(bare), _count(finds, bare)))
    return rows


def of_harmless(alarms: Callable[[str], bool]) -> list[Figure]:
    """Code, digests and lock files, which hold no secrets."""
    kinds = {
        "snippets of 30 lines of the standard library": code_snippets(1000),
        "lines with digests, UUIDs and ids": digests(30),
        "parts of lock files": lock_files(30),
    }
    return [Figure(what, len(texts), sum(map(alarms, texts))) for what, texts in kinds.items()]


def _count(finds: Hides, cases: list[tuple[str, str]]) -> int:
    return sum(finds(text, secret) for text, secret in cases)
