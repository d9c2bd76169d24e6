"""The language of search: what is understood, what is refused, and that full text search takes all of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.archive.index.words import searchable
from stenograph.errors import InvalidQuery
from stenograph.query.language import parse_query
from stenograph.query.snippet import Snippets

TEXTS = {
    "code": "def parse_config(path): return HTTPServer(path/to/file.py, foo.bar())",
    "chinese": "修复了配置解析的错误 in config.toml",
    "prose": "The café opened. Don't panic AND carry on",
    "camel": "class SessionStoreFactory: getUserName",
}


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    """Full text as the archive has it."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute(
        "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2')"
    )
    rows = [(number, searchable(text).decode()) for number, text in enumerate(TEXTS.values())]
    connection.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", rows)
    yield connection
    connection.close()


def _found(index: sqlite3.Connection, query: str) -> set[str]:
    rows = index.execute("SELECT rowid FROM words WHERE words MATCH ?", (parse_query(query).match,))
    return {list(TEXTS)[number] for (number,) in rows}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("parse_config", {"code"}),
        ("config", {"code", "chinese"}),
        ("conf*", {"code", "chinese"}),
        ("conf", set()),
        ("foo.bar()", {"code"}),
        ("bar.foo()", set()),
        ("path/to/file.py", {"code"}),
        ("to/file", {"code"}),
        ("HTTPServer", {"code"}),
        ("http", {"code"}),
        ("server", {"code"}),
        ("sessionstorefactory", {"camel"}),
        ("Store", {"camel"}),
        ("user name", {"camel"}),
        ("配置", {"chinese"}),
        ("置配", set()),
        ("错误 config", {"chinese"}),
        ("cafe", {"prose"}),
        ("CAFÉ", {"prose"}),
        ("don't", {"prose"}),
        ('"panic and carry"', {"prose"}),
        ('"carry panic"', set()),
        ('"AND"', {"prose"}),
        ("and", {"prose"}),
        ("panic OR 配置", {"prose", "chinese"}),
        ("config NOT 配置", {"code"}),
        ("config AND NOT (配置 OR zebra)", {"code"}),
        ("(panic OR config) (carry OR toml)", {"prose", "chinese"}),
        ("foo.bar() OR (getUserName)", {"code", "camel"}),
        ("HTTPServer(path/to/file.py, foo.bar())", {"code"}),
        ('"parse_conf"*', {"code"}),
    ],
)
def test_a_query_finds_what_it_says(index: sqlite3.Connection, query: str, found: set[str]) -> None:
    """Words, phrases, beginnings, operators, brackets, code and scripts without spaces."""
    assert _found(index, query) == found


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("", "nothing to search for"),
        ("  ", "nothing to search for"),
        ('"open', "never closed"),
        ("(open", "never closed"),
        ("closed)", "closes nothing"),
        ("a OR", "a word is missing at the end"),
        ("OR a", "a word is missing before OR"),
        ("a AND AND b", "a word is missing before AND"),
        ("()", r"a word is missing before \)"),
        ("NOT a", "NOT excludes"),
        ("a OR NOT b", "NOT excludes"),
        ("NOT NOT a", "a word is missing before NOT"),
        ("***", "no word in"),
        ("a && b", "no word in '&&'"),
        ("(" * 60 + "a" + ")" * 60, "brackets more than 50 deep"),
        ("a " * 300, "more than 200 words"),
    ],
)
def test_what_is_no_query_is_refused_in_one_sentence(query: str, complaint: str) -> None:
    """It says what is wrong and what to do."""
    with pytest.raises(InvalidQuery, match=complaint) as refused:
        parse_query(query)
    assert "\n" not in str(refused.value)
    assert refused.value.exit_code == 2


PIECES = st.sampled_from(
    [
        "a",
        "bé",
        "AND",
        "OR",
        "NOT",
        "(",
        ")",
        '"',
        "*",
        " ",
        "  ",
        "配",
        "f(",
        "x_y",
        "-",
        "^",
        ":",
        "+",
        "'",
        "\0",
        "NEAR",
        "{",
        "\\",
    ]
)


@given(st.one_of(st.lists(PIECES, max_size=20).map("".join), st.text(max_size=30)))
def test_whatever_is_typed_is_refused_or_runs(query: str) -> None:
    """Nothing that a person types reaches full text search as something it would choke on."""
    try:
        parsed = parse_query(query)
    except InvalidQuery:
        return
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='')")
        connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (parsed.match,)).fetchall()
    assert parsed.phrases


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("snake_case", "my_snake_case(snake_case)", ["snake_case", "snake_case"]),
        ("Camel", "the CamelCase thing", ["Camel"]),
        ("错误", "发现修复错误代码", ["错误"]),
        ("cafe", "the Café", ["Café"]),
        ("fo*", "fooBar foo of", ["fooBar", "foo"]),
        ("foo.bar()", "see foo.bar() there", ["foo.bar"]),
        ("a NOT b", "a b", ["a"]),
        ("zebra", "nothing", []),
        ("one two", "two three one", ["two", "one"]),
    ],
)
def test_a_snippet_marks_what_was_looked_for(query: str, text: str, marked: list[str]) -> None:
    """Whole words, or parts of names where there are no whole ones."""
    snippet = Snippets(parse_query(query).phrases).of(text)
    assert [snippet.text[start:end] for start, end in snippet.spans] == marked


def test_a_snippet_is_a_short_line_around_the_first_place() -> None:
    """Of a long text with many lines, and with dots where it goes on."""
    text = "before\n" * 500 + "needle\tin\n\n  a stack " + "after\n" * 500
    snippet = Snippets(parse_query("needle").phrases).of(text)
    assert "needle in a stack after" in snippet.text
    assert (snippet.text[0], snippet.text[-1]) == ("…", "…")
    assert len(snippet.text) < 220


@given(st.text(max_size=300), st.sampled_from(["a", "配", "a*", '"a b"', "Z", "é"]))
def test_a_snippet_of_any_text_is_one_line_with_marks_inside_it(text: str, query: str) -> None:
    """Marks are in order and never beyond the text."""
    snippet = Snippets(parse_query(query).phrases).of(text)
    assert "\n" not in snippet.text
    places = [place for span in snippet.spans for place in span]
    assert places == sorted(places)
    assert all(0 <= place <= len(snippet.text) for place in places)
