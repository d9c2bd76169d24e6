"""How text is cut into words."""

from __future__ import annotations

import pytest

from stenograph.archive.words import camel_parts, event_text, searchable, spaced
from stenograph.model import Event, MessagePayload, SystemPayload, ThinkingBlock, ToolPayload


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
