"""Full text finds what it found when every text was looked through by one regular expression per name."""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_of_goldens import converted, copy_sessions
from stenograph.archive.index.words import camel_parts, event_text, searchable, spaced
from stenograph.errors import InvalidQuery
from stenograph.query.language import parse_query

_NAME = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z]?[a-z0-9]++[A-Z]|[A-Z]{2,}+[a-z])[A-Za-z0-9]*+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
QUERIES = 1500


def before(text: str) -> str:
    """The text as the index of schema 5 took it: behind it, the parts of its names, piece by piece."""
    text = spaced(text)
    pieces = set()
    for piece in text.split():
        names = (name for name in _NAME.findall(piece) if len(name) <= 80)
        pieces.add(" ".join(part for name in names for part in _PART.findall(name)))
    parts = " ".join(sorted(pieces - {""}))
    return f"{text}\n{parts}" if parts else text


def _index(texts: Iterable[str], make: Callable[[str], str]) -> sqlite3.Connection:
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2')")
    index.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(map(make, texts)))
    return index


def _queries(texts: list[str]) -> list[str]:
    """What people may ask: words and their beginnings, names, parts of names in a row, phrases, and two of these."""
    chance = random.Random(1)
    words = sorted({word for text in texts for word in re.findall(r"[^\W_]{2,}", text)})
    names = [name for name in words if _NAME.fullmatch(name)]
    parts = [_PART.findall(name) for name in names]
    asked = [*chance.sample(words, 500), *names[:200]]
    asked += [f"{word[: chance.randint(2, 6)]}*" for word in chance.sample(words, 200)]
    asked += ["".join(each[: chance.randint(1, len(each))]) for each in parts[:200]]
    asked += [f'"{" ".join(each)}"' for each in parts[:200]]
    for _ in range(300):
        said = chance.choice(texts).split()
        at = chance.randrange(len(said)) if said else 0
        asked.append('"' + " ".join(said[at : at + 3]).replace('"', "") + '"')
    asked += [f"{one} {sign} {two}" for one, two in zip(names, words, strict=False) for sign in ("AND", "OR", "NOT")]
    return asked[:QUERIES]


def test_search_finds_what_it_found_before(tmp_path: Path) -> None:
    """The same events of the golden sessions, for many queries, as with the words of the schema before."""
    texts = [text for event in converted(copy_sessions(tmp_path / "s")) if (text := event_text(event))]
    old, new = _index(texts, before), _index(texts, lambda text: searchable(text).decode())
    found = 0
    for query in _queries(texts):
        try:
            match = parse_query(query).match
        except InvalidQuery:
            continue
        ask = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid"
        expected = old.execute(ask, (match,)).fetchall()
        assert new.execute(ask, (match,)).fetchall() == expected, query
        found += bool(expected)
    assert found > QUERIES // 2
    old.close()
    new.close()


@given(st.text(alphabet="abAB1. _é漢", max_size=30))
def test_names_are_taken_apart_by_the_rule(text: str) -> None:
    """Each once, in their order, wherever they stand."""
    names = dict.fromkeys(_NAME.findall(text.encode().decode("latin-1")))
    assert [parts.decode() for parts in camel_parts(text.encode())] == [" ".join(_PART.findall(name)) for name in names]


@pytest.mark.parametrize("length", [80, 81])
def test_a_name_longer_than_any_has_no_parts(length: int) -> None:
    """Base64 is no name; it is found as it stands."""
    name = "aB" * (length // 2) + "c" * (length % 2)
    assert (searchable(name) != name.encode()) == (length <= 80)
