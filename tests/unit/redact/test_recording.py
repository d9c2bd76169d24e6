"""Masking while recording: chunks of a stream, and values that a run showed before."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph import default_masker, read_events, start_run
from stenograph.model import Event, SystemPayload
from stenograph.redact.rules import filled
from strategies import PATIENT

TOKEN = filled("ghp_{a:36}")


def streamed(chunks: list[str], root: Path) -> list[str]:
    """What the journal has of the chunks of one speaker."""
    with start_run("r", root=root, mask=default_masker()) as run:
        for chunk in chunks:
            run.stream(chunk)
    return [event.payload.blocks[0].text for event in read_events(run.path) if event.type == "message.assistant"]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"use {TOKEN} now", "use [masked:github-token] now"),
        (f"use {TOKEN}", "use [masked:github-token]"),
        ("the password is hunter2x9, ok", "the password is [masked:password], ok"),
        ("export DB_PASSWORD=hunter2x9\nls", "export DB_PASSWORD=[masked:password]\nls"),
        ("nothing to hide here", "nothing to hide here"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_a_secret_that_a_stream_cuts_is_in_no_chunk(text: str, masked: str, size: int, tmp_path: Path) -> None:
    """However small the pieces are; together they say the rest."""
    chunks = [text[start : start + size] for start in range(0, len(text), size)]
    written = streamed(chunks, tmp_path)
    assert "".join(written) == masked
    assert len(chunks) <= len(written) <= len(chunks) + 1


def test_what_is_held_back_stands_before_what_the_speaker_says_next(tmp_path: Path) -> None:
    """And another speaker does not wait for it."""
    with start_run("r", root=tmp_path, mask=default_masker()) as run:
        run.stream("so")
        with run.step("other") as step:
            step.user("meanwhile")
        run.user("next")
    texts = [event.payload.blocks[0].text for event in read_events(run.path) if event.type.startswith("message.")]
    assert texts == ["", "meanwhile", "so", "next"]


def test_a_private_key_that_streams_in_lines_is_masked(tmp_path: Path) -> None:
    """Its header is written, no line of the key is."""
    body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
    lines = ["-----BEGIN " + "PRIVATE KEY-----\n", *([f"{body}\n"] * 60), "-----END " + "PRIVATE KEY-----\n", "done\n"]
    written = "".join(streamed(lines, tmp_path))
    assert body not in written
    assert written.endswith("done\n")


def test_a_value_that_was_masked_is_masked_in_what_is_recorded_later(tmp_path: Path) -> None:
    """In the same run, not in another one."""
    mask = default_masker()
    for text, shown in (("export DB_PASSWORD=hunter2x9", "[masked:password]"), ("hello", "hunter2x9")):
        with start_run("r", root=tmp_path, mask=mask) as run:
            run.user(text)
            assert run.user("it is hunter2x9").payload.blocks[0].text == f"it is {shown}"


def test_a_mask_inside_another_function_loses_nothing(tmp_path: Path) -> None:
    """Where the recorder cannot ask for what is held back, each chunk is masked by itself."""
    mask = default_masker()
    with start_run("r", root=tmp_path, mask=lambda event: mask(event)) as run:
        run.stream("so it is")
    chunks = [event.payload.blocks[0].text for event in read_events(run.path) if event.type == "message.assistant"]
    assert chunks == ["so it is"]


@PATIENT
@given(
    st.lists(
        st.sampled_from(["a", " ", "\n", "password", "=", ": ", "hunter2x9", "é", TOKEN[:9], TOKEN[9:]]), max_size=20
    )
)
def test_no_chunk_is_lost(tmp_path_factory: pytest.TempPathFactory, chunks: list[str]) -> None:
    """Whatever is streamed without a secret is in the journal, in order."""
    text = "".join(chunks)
    written = "".join(streamed(chunks, tmp_path_factory.mktemp("r")))
    masked = default_masker()(_said(text)).payload.text
    assert TOKEN not in written or TOKEN in masked
    if masked == text:
        assert written == text


def _said(text: str) -> Event:
    payload = SystemPayload(subtype="s", text=text)
    return Event(seq=0, run_id="x", type="system.event", path="", iteration=0, timestamp="t", payload=payload)
