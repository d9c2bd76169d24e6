"""How text is cut into words."""

from __future__ import annotations

import sqlite3

import pytest

from stenograph.archive.index.words import event_text, parts_of_name, searchable, spaced
from stenograph.model import Event, MessagePayload, SystemPayload, ThinkingBlock, ToolPayload
from stenograph.query.language import parse_query


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
    assert searchable(text).decode().removeprefix(text).split() == parts


def test_scripts_without_spaces_are_spaced() -> None:
    """Every character of such a script stands alone; others stay together."""
    assert spaced("修复bug了").split() == ["修", "复", "bug", "了"]
    assert spaced("plain") == "plain"


def test_colours_are_no_part_of_words() -> None:
    """Output of a terminal is found by what it says."""
    output = "\x1b[1;31mneedle\x1b[0m\x1b[K in \x1b]hay"
    payload = ToolPayload(call_id="1", name="Bash", fidelity="router", input=None, output=output)
    event = Event(seq=1, run_id="r", type="tool.result", path="", iteration=0, timestamp="", payload=payload)
    assert event_text(event) == "Bash\nneedle in \x1b]hay"


@pytest.mark.parametrize("text", ["a" * 10**6, "aB" * 10**6, "A" * 10**6, "a1" * 10**6])
def test_one_endless_word_takes_no_time(text: str) -> None:
    """Text without a space, as base64 is, costs what any other text costs: by the square, it would be hours."""
    assert searchable(text).startswith(text.encode())


def test_what_only_a_provider_reads_is_not_searched() -> None:
    """Signatures, ciphertext and the schemas of tools would be found everywhere and tell nothing."""
    block = ThinkingBlock(fidelity="agent_emitted", thinking="Hm.", signature="c2ln", id="rs_1", encrypted_content="eA")
    message = MessagePayload(role="assistant", blocks=(block,))
    tools = {"tools": [{"name": "Look", "description": "Looks around."}]}
    defined = SystemPayload(subtype="tool_definitions", text="Look", data=tools)
    told = [
        event_text(Event(seq=1, run_id="r", type=kind, path="", iteration=0, timestamp="", payload=payload))
        for kind, payload in (("message.assistant", message), ("system.event", defined))
    ]
    assert told == ["Hm.", "Look"]


def test_arguments_are_found_by_their_names_and_numbers() -> None:
    """What a tool was given is its texts, then the names of its arguments and its numbers."""
    given = {"path": "a.py", "limit": 4711, "options": [{"scale": 0.25, "deep": True}], "none": None}
    payload = ToolPayload(call_id="1", name="Read", fidelity="router", input=given, output=None)
    event = Event(seq=1, run_id="r", type="tool.call", path="", iteration=0, timestamp="", payload=payload)
    assert event_text(event) == "Read\na.py\npath limit 4711 options scale 0.25 deep none"


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("class HttpResponseCodeError", "ResponseCode"),
        ("class HttpResponseCodeError", "HttpResponse*"),
        ("getUserName()", "UserName"),
        ("Η Αθήνα είναι εδώ", "Αθηνα"),
        ("Η ΑΘΗΝΑ", "αθήνα"),
        ("ＦＵＬＬ　ｗｉｄｔｈ１２", "full width12"),
        ("full width", "ｆｕｌｌ"),
        ("héllo", "hello"),
        ("日本語のテスト", "テスト"),
    ],
)
def test_a_word_is_found_in_another_dress(text: str, asked: str) -> None:
    """Some parts of a name, Greek with and without accents, full-width letters and their ASCII."""
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='unicode61 remove_diacritics 2')")
    index.execute("INSERT INTO words VALUES (?)", (searchable(text).decode(),))
    found = index.execute("SELECT 1 FROM words WHERE words MATCH ?", (parse_query(asked).match,)).fetchall()
    index.close()
    assert found == [(1,)]


def test_parts_that_no_name_has_are_not_found() -> None:
    """Two parts of a name are found in their order, next to one another."""
    assert parts_of_name("ResponseCode") == ["Response Code"]
    assert parts_of_name("plain") == parts_of_name("two words") == parts_of_name("foo.barBaz") == []
