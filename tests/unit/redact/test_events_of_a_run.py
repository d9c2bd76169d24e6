"""What a mask knows of a run: values it met before, rules and names of a user, how much it masked, and where."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from stenograph.model import Event, MessagePayload, TextBlock, ThinkingBlock, ToolPayload, UnknownPayload
from stenograph.redact import default_masker, sharing_mask
from stenograph.redact.rules import filled, with_rules_of
from stenograph.redact.scan import findings, sureness_of
from stenograph.redact.user_rules import UserRules

TOKEN = filled("ghp_{a:36}")
PASSWORD = "hunter2x9"


def said(text: str, seq: int = 1, **more: Any) -> Event:
    payload = MessagePayload(role="user", blocks=(TextBlock(fidelity="router", text=text),))
    return Event(seq=seq, run_id="r", type="message.user", path="", iteration=0, timestamp="t", payload=payload, **more)


def text_of(event: Event) -> str:
    return str(event.payload.blocks[0].text)


def test_a_value_that_was_masked_once_is_masked_wherever_it_stands() -> None:
    """Behind the place that shows it, and, when the mask has seen the run, before it."""
    events = [
        said(f"I typed {PASSWORD}."),
        said(f"export DB_PASSWORD={PASSWORD}"),
        said(f"use {PASSWORD}; no {PASSWORD}7"),
    ]
    mask = sharing_mask()
    assert [text_of(mask.event(event)) for event in events] == [
        f"I typed {PASSWORD}.",
        "export DB_PASSWORD=[masked:password]",
        f"use [masked:password]; no {PASSWORD}7",
    ]
    mask = sharing_mask()
    mask.learn(events)
    assert text_of(mask.event(events[0])) == "I typed [masked:password]."
    assert mask.counts == Counter(password=1)


def test_a_common_word_is_not_taken_from_every_sentence() -> None:
    """`PASSWORD=postgres` masks that place alone."""
    mask = sharing_mask()
    assert text_of(mask.event(said("PASSWORD=postgres"))) == "PASSWORD=[masked:password]"
    assert text_of(mask.event(said("postgres is up"))) == "postgres is up"


def test_what_is_masked_is_counted_by_rule_and_once_for_payload_and_source_line() -> None:
    """A line repeats what its payload says."""
    mask = sharing_mask()
    text = f"{TOKEN} and {TOKEN}, password={PASSWORD}"
    mask.event(said(text, raw=json.dumps({"text": text})))
    assert mask.counts == Counter({"github-token": 2, "password": 1})


def test_rules_names_and_exceptions_of_a_user() -> None:
    """A shape from a file, a name of one's own, and a text that stays."""
    rules = with_rules_of(
        """
        [[rule]]
        name = "acme-key"
        keyword = "acme_"
        pattern = "acme_[a-z0-9]{24}"
        """,
        "mine.toml",
    )
    mask = sharing_mask(own=UserRules(rules, names=["bluebird_code"], keep=["not-secret-1"]))
    text = f"{filled('acme_{b:24}')} Bluebird_Code: zeppelin password=not-secret-1 token={TOKEN}"
    assert text_of(mask.event(said(text))) == (
        "[masked:acme-key] Bluebird_Code: [masked:secret] password=not-secret-1 token=[masked:github-token]"
    )
    payload = UnknownPayload(value={"bluebird_code": "zeppelin"})
    event = Event(seq=1, run_id="r", type="unknown", path="", iteration=0, timestamp="t", payload=payload)
    assert mask.event(event).payload.value == {"bluebird_code": "[masked:secret]"}


def test_a_list_of_arguments_is_read_as_a_command() -> None:
    """As agents have the calls of a shell; payload and source line alike."""
    command = ["mysql", "-u", "root", f"-p{PASSWORD}", "--token", "swordfish", "-v"]
    masked = ["mysql", "-u", "root", "-p[masked:password]", "--token", "[masked:token]", "-v"]
    payload = ToolPayload(name="n", call_id="c", input={"argv": command}, output=None, fidelity="router")
    event = Event(seq=1, run_id="r", type="tool.call", path="", iteration=0, timestamp="t", payload=payload)
    event = default_masker()(Event(**{name: getattr(event, name) for name in event.__struct_fields__}))
    assert event.payload.input == {"argv": masked}
    line = sharing_mask().event(said("x", raw=json.dumps({"argv": command}))).raw
    assert json.loads(line or "") == {"argv": masked}


def test_findings_say_where_and_by_which_rule_and_how_surely() -> None:
    """Each once, also when the source line repeats it; a key that is a secret is not in the field's name."""
    payload = ToolPayload(
        name="Bash",
        call_id="c",
        input={"command": ["mysql", f"-p{PASSWORD}"], TOKEN: [TOKEN]},
        output={"session_key": "9f86d081884c7d659a2feaa0c55ad015"},
        fidelity="router",
    )
    raw = json.dumps({"input": {"token": TOKEN}, "other": f"password={PASSWORD}z"})
    event = Event(seq=1, run_id="r", type="tool.call", path="", iteration=0, timestamp="t", payload=payload, raw=raw)
    found = list(findings(event, sharing_mask()))
    assert [(each.field, each.rule, each.sureness) for each in found] == [
        ("payload.input.command[1]", "password", "likely"),
        ("payload.input.[masked:github-token]", "github-token", "certain"),
        ("payload.input.[masked:github-token][0]", "github-token", "certain"),
        ("payload.output.session_key", "high-entropy", "possible"),
        ("raw", "password", "likely"),
    ]
    assert sureness_of("private-key") == "certain"
    assert list(findings(said("nothing here"), sharing_mask())) == []


def test_signatures_ids_models_and_digests_are_not_secrets() -> None:
    """Not of thinking, not of calls and requests, not of attachments."""
    opaque = "EqQBCkgIARABGAIiQL8mXo1bTn0yZk" * 12
    block = ThinkingBlock(fidelity="router", thinking="so", signature=opaque, encrypted_content="gAAAAABo" + opaque)
    ids = {
        "message_id": "msg_01XFDUDYJgAACzvnptvVoYEL",
        "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
        "call_id": "toolu_01A09q90qw90lq917835lq9",
        "response_id": "resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b",
        "chat": "chatcmpl-9f86d081884c7d659a2feaa0c55ad015",
        "model": "claude-opus-4-5-20251101",
        "fingerprint": "fp_44709d6fcb",
        "sha256": "9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015",
        "digest": "sha256:9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015",
        "signature": opaque,
        "encrypted_content": opaque,
        "thoughtSignature": opaque,
        "prompt_cache_key": "550e8400-e29b-41d4-a716-446655440000",
        "commit": "9f86d081884c7d659a2feaa0c55ad0159f86d081",
    }
    payload = MessagePayload(role="assistant", blocks=(block,))
    event = Event(
        seq=1,
        run_id="r",
        type="message.assistant",
        path="",
        iteration=0,
        timestamp="t",
        payload=payload,
        raw=json.dumps(ids),
    )
    for mask in (sharing_mask().event, default_masker()):
        assert mask(event) is event
