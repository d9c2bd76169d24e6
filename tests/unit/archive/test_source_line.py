"""The line that an archived event was read from."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from archive_of_goldens import CHILD, CLAUDE, GEMINI, PARENT, WORKFLOW, make_archive
from stenograph import open_archive
from stenograph.archive.store.source_line import _line, source_line
from stenograph.model import ToolPayload, decode


def test_every_event_has_its_line(tmp_path: Path) -> None:
    """Of sessions with subagents, forks and journals: the line has the call's id, and a journal's is the event."""
    home, _ = make_archive(tmp_path)
    with open_archive(home) as archive, archive.reading() as reader:
        for run_id in (CLAUDE, CHILD, PARENT, GEMINI, WORKFLOW):
            run, _ = reader.find_run(run_id)
            for event in reader.events(run):
                found = source_line(reader, event)
                assert found is not None, (run_id, event.seq)
                if isinstance(event.payload, ToolPayload) and event.payload.call_id:
                    assert event.payload.call_id.encode() in found.data
                if run_id == WORKFLOW:
                    assert decode(found.data).payload == event.payload


@given(st.lists(st.binary(max_size=6).filter(lambda each: b"\n" not in each), max_size=12), st.integers(1, 7))
def test_a_line_is_found_wherever_chunks_end(lines: list[bytes], size: int) -> None:
    """By its number, in chunks of any size, with or without a line end at the end."""
    for data in (b"\n".join(lines), b"".join(line + b"\n" for line in lines)):
        chunks = [data[at : at + size] for at in range(0, len(data), size)]
        split = data.split(b"\n")
        for number in range(1, len(split) + 2):
            expected = split[number - 1] if number <= len(split) else None
            is_last = number == len(split)
            assert _line(iter(chunks), number) == (expected or None if is_last else expected)
