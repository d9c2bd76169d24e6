"""`check_format` finds what a format does wrong, and says which law broke at which byte."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from msgspec.structs import replace

from opencode_database import create_tables, insert
from stenograph.formats import LIKELY, SURE, Agent, FormatSpec, Identity, LineFormat, Tool, Turns
from stenograph.formats.registry import formats
from stenograph.model import Event, MessagePayload, TextBlock, UsagePayload
from stenograph.model.block import ToolUseBlock
from stenograph.testing import LAWS, check_format

CASE = b'{"say":"one"}\n{"say":"two"}\n\n{"say":"three"}\n'


class Plain(LineFormat):
    """A small format that keeps the contract."""

    name = "plain"

    def _map(self, record: Any) -> None:
        if not isinstance(record, dict) or not isinstance(record.get("say"), str):
            self._unknown(record)
            return
        self._say(record["say"])

    def _say(self, text: str, *blocks: Any) -> None:
        block = TextBlock(fidelity="agent_emitted", text=text)
        self._emit("message.user", MessagePayload(role="user", blocks=(block, *blocks)))


def _detect(head: Sequence[Any], path: str) -> int:
    return LIKELY if all(isinstance(record, dict) and isinstance(record.get("say"), str) for record in head) else 0


def _identify(head: Sequence[Any], path: str) -> Identity:
    return Identity(native_id=path)


SPEC = FormatSpec(
    name="plain",
    what="an example",
    versions="1",
    agent=Agent("plain", "Plain"),
    kind="file",
    detect=_detect,
    identify=_identify,
    open=Plain,
)


class Raising(Plain):
    """Raises on the second word."""

    def feed(self, data: bytes) -> list[Event]:
        if b"two" in data:
            raise KeyError("two")
        return super().feed(data)


class Failing(Plain):
    """Its mapping breaks on a word."""

    def _say(self, text: str, *blocks: Any) -> None:
        super()._say({"one": "1", "two": "2"}[text] if len(text) < 6 else text)


class Forgetting(Plain):
    """Loses a line without a word."""

    def _map(self, record: Any) -> None:
        super()._map(record)
        if record == {"say": "two"}:
            self._out.pop()
            self.report.accumulated += 1
        self.report.accumulated -= record == {"say": "three"}


class Inventing(Plain):
    """Has a type of its own."""

    def _say(self, text: str, *blocks: Any) -> None:
        self._emit("message.robot", None)


class Cutting(Plain):
    """Takes a piece for the whole."""

    def feed(self, data: bytes) -> list[Event]:
        return super().feed(data.replace(b"two", b"2ww"))


class Holding(Plain):
    """Holds what cannot be saved."""

    def __init__(self, context: Any) -> None:
        super().__init__(context)
        self.hook = lambda: None


class Sharing(Plain):
    """Counts for all parsers together."""

    count: ClassVar = [0]

    def _say(self, text: str, *blocks: Any) -> None:
        self.count[0] += 1
        super()._say(f"{text} {self.count[0]}")


class Turning(Plain):
    """Gives its events in another order at the end."""

    def _taken(self) -> list[Event]:
        return super()._taken()[::-1]


class Calling(Plain):
    """Has the block of a call, and not the call."""

    def _say(self, text: str, *blocks: Any) -> None:
        super()._say(text, ToolUseBlock(fidelity="agent_emitted", tool_name="x", tool_id="1", tool_input={}))


class Counting(Plain):
    """Reports tokens, of which its description does not know."""

    def _say(self, text: str, *blocks: Any) -> None:
        super()._say(text)
        self._emit("token.usage", UsagePayload(scope="turn", input_tokens=1, output_tokens=1))


def test_a_format_that_keeps_the_contract_passes() -> None:
    """The small format, on its bytes, also without the last newline."""
    check_format(SPEC, [CASE, CASE[:13]])


@pytest.mark.parametrize(
    ("law", "byte", "spec"),
    [
        ("description", 0, replace(SPEC, tools={"x": Tool(kind="flight")})),
        ("description", 0, replace(SPEC, sample=b'{"x":1}\n')),
        ("description", 0, replace(SPEC, kind="sausage")),  # what a package may write
        ("description", 0, replace(SPEC, turns=Turns(marks={"done": "finishes"}))),
        ("identity", 0, replace(SPEC, identify=lambda head, path: Identity(native_id=head[0]["nothing"]))),
        ("detection", 0, replace(SPEC, detect=lambda head, path: 0)),
        ("detection", 0, replace(SPEC, detect=lambda head, path: 101)),
        ("refusal", 0, replace(SPEC, detect=lambda head, path: SURE)),
        ("refusal", 0, replace(SPEC, detect=lambda head, path: 1)),
        ("identity", 0, replace(SPEC, identify=lambda head, path: Identity(source="nobody"))),
        ("totality", 14, replace(SPEC, open=Raising)),
        ("totality", 29, replace(SPEC, open=Failing)),
        ("types", 0, replace(SPEC, open=Inventing)),
        ("lines", 14, replace(SPEC, open=Forgetting)),
        ("lines", 22, replace(SPEC, open=Cutting)),
        ("cutting", 23, replace(SPEC, open=Cutting, kind="stream")),
        ("resuming", None, replace(SPEC, open=Holding)),
        ("cutting", None, replace(SPEC, open=Sharing)),
        ("cutting", None, replace(SPEC, open=Turning)),
        ("ids", 0, replace(SPEC, open=Calling)),
        ("tokens", 0, replace(SPEC, open=Counting)),
    ],
)
def test_a_broken_law_is_named_with_its_byte(law: str, byte: int | None, spec: FormatSpec) -> None:
    """Whatever a format does wrong, one line says what, and where."""
    with pytest.raises(AssertionError) as found:
        check_format(spec, [CASE])
    said = str(found.value)
    assert said.startswith(f"plain: law {law!r} broke")
    if byte is not None:
        assert f"at byte {byte} of " in said


def test_a_law_can_be_excepted_and_cases_are_needed() -> None:
    """A format with a reason says which law it does not keep; without cases there is nothing to check."""
    check_format(replace(SPEC, open=Calling), [CASE], except_for=("ids",))
    for law, parser in (("independence", Sharing), ("order", Turning)):
        with pytest.raises(AssertionError, match=f"law '{law}' broke"):
            check_format(replace(SPEC, open=parser), [CASE], except_for=("cutting", "resuming"))
    with pytest.raises(AssertionError, match="there are no cases"):
        check_format(SPEC, [])
    assert len({law.name for law in LAWS}) == len(LAWS)


def test_databases_and_documents_are_cases(tmp_path: Path) -> None:
    """A path may be a database, and a case one JSON document."""
    connection = sqlite3.connect(tmp_path / "opencode.db")
    create_tables(connection)
    insert(connection, {"table": "session", "id": "ses_1", "directory": "/work", "version": "1", "time_created": 1})
    insert(connection, {"table": "message", "id": "msg_1", "session_id": "ses_1", "time_created": 2, "data": {}})
    connection.commit()
    connection.close()
    check_format(formats()["opencode"], [tmp_path / "opencode.db"])
    document = {"sessionId": "s", "projectHash": "h", "startTime": "T", "lastUpdated": "T", "messages": []}
    check_format(formats()["gemini_cli"], [json.dumps(document, indent=1).encode()])
    with pytest.raises(AssertionError, match="is a database, and the format's layout has none"):
        check_format(SPEC, [tmp_path / "opencode.db"])
