"""Following a file: whatever happens to it and to us, each line is given out once, as a model says."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from stenograph.formats.base import Context, Format
from stenograph.model import Event, decode, encode
from stenograph.sources.detection import format_named
from stenograph.sources.known import Known, known_lines
from stenograph.sources.tail import FileTail, TailState
from strategies import PATIENT, examples

SPEC = format_named("claude_code")
RUN_ID = "550e8400-e29b-41d4-a716-446655440000"


def said(number: int, *blocks: dict[str, object]) -> bytes:
    """A line of an answer: one event for it, one per call, one for its usage."""
    message = {
        "id": f"msg-{number}", "role": "assistant", "model": "m", "content": list(blocks),
        "usage": {"input_tokens": number, "output_tokens": 1},
    }  # fmt: skip
    record = {"type": "assistant", "timestamp": "2026-01-01T00:00:00.000Z", "message": message}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


CALL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}
LINES = [
    said(1, {"type": "text", "text": "漢🎉"}),
    said(1, CALL, CALL | {"id": "t2"}),  # the same message: no usage of its own, which only a parser's memory tells
    said(2, CALL),
    b'{"type":"user","message":{"role":"user","content":"\xe2\x80\xa8 hi"}}',
    b'{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}',
    b'{"type":"mode","mode":"a"}',
    b"{}",
    b"not json",
    b"\xff\xfe",
    b"",
]
contents = st.lists(st.sampled_from(LINES), max_size=5).map(lambda lines: b"".join(line + b"\n" for line in lines))


def opened() -> Format:
    return SPEC.open(Context(run_id=RUN_ID))


def by_line(lines: list[bytes]) -> list[list[Event]]:
    """The events of each line, the lines before it known to the parser."""
    parser = opened()
    return [parser.feed(line + b"\n") for line in lines]


def is_record(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


class Tailing(RuleBasedStateMachine):
    """A file that is written, cut, replaced and deleted, and a tail that is restarted, against a plain model.

    Everything stays below the window that a tail compares, so that it must see every rewrite.
    """

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "session.jsonl"
        self.chunk = 65536
        self.tail = self.made(None)
        self.given: list[Event] = []
        self.content: bytes | None = None
        self.held: bytes | None = None  # what an open file holds that has lost its name
        self.is_held = False
        # The model: the lines given out (None: known by its number only) and what of the last one was.
        self.known: list[bytes | None] = []
        self.partly: int | None = None
        self.expected: list[Event] = []
        self.places: list[tuple[int, bytes, int]] = []

    def made(self, known: Known | None) -> FileTail:
        return FileTail(self.path, opened, known=known, max_read_bytes=self.chunk)

    def teardown(self) -> None:
        self.tail.close()
        shutil.rmtree(self.folder)

    # What happens to the file.

    @rule(data=contents)
    def append(self, data: bytes) -> None:
        if len(self.content or b"") < 600:
            self.write(data[:400], "ab")

    @rule(data=contents, end=st.integers(1, 60))
    def append_a_part(self, data: bytes, end: int) -> None:
        if len(self.content or b"") < 600:
            self.write(data[:-end][:400], "ab")

    @rule(line=st.sampled_from(LINES))
    def append_without_newline(self, line: bytes) -> None:
        if len(self.content or b"") < 600:
            self.write(line, "ab")

    @rule(data=contents, is_longer=st.booleans())
    def rewrite_in_place(self, data: bytes, is_longer: bool) -> None:
        """Where the file does not shrink, only its bytes tell."""
        missing = max(0, len(self.content or b"") - len(data)) if is_longer else 0
        self.write((data + b"{}\n" * (missing // 3 + 1) if missing else data)[:1000], "wb")

    @rule(size=st.integers(0, 600))
    def cut(self, size: int) -> None:
        if self.content is not None:
            self.content = self.content[:size]
            os.truncate(self.path, len(self.content))

    @rule(data=contents)
    def replace(self, data: bytes) -> None:
        self.put_in_place(data[:800])

    @rule()
    def replace_by_a_copy(self) -> None:
        if self.content is not None:
            self.put_in_place(self.content)

    @rule()
    def delete(self) -> None:
        if self.content is not None:
            self.lose_name()
            self.path.unlink()
            self.content = None

    def put_in_place(self, data: bytes) -> None:
        self.lose_name()
        other = self.folder / "other"
        other.write_bytes(data)
        other.replace(self.path)
        self.content = data

    def lose_name(self) -> None:
        if self.is_held and self.held is None:
            self.held = self.content

    def write(self, data: bytes, mode: str) -> None:
        with self.path.open(mode) as file:
            file.write(data)
        self.content = data if mode == "wb" else (self.content or b"") + data

    # What we do.

    @rule()
    def read(self) -> None:
        self.given += [event for batch in self.tail.read() for event in batch]
        self.model()

    @rule()
    def finish(self) -> None:
        self.given += [event for batch in self.tail.finish() for event in batch]
        self.model()
        *_, rest = (self.content or b"").split(b"\n")
        if is_record(rest):
            self.model_lines([*(self.content or b"").split(b"\n")])
        assert self.tail.open_bytes == (0 if is_record(rest) else len(rest))

    @rule(chunk=st.sampled_from([1, 7, 100, 65536]))
    def restart_from_its_state(self, chunk: int) -> None:
        state = msgspec.json.decode(msgspec.json.encode(self.tail.state()), type=TailState)
        self.chunk = chunk
        self.start_again(state.known)

    @rule(lost=st.integers(0, 5))
    def restart_from_the_journal(self, lost: int) -> None:
        """Killed: the journal has all events but the last few, however they share lines."""
        kept = max(0, len(self.given) - lost)
        for each in (self.given, self.expected, self.places):
            del each[kept:]
        self.start_again(known_lines([decode(encode(event)) for event in self.given]).get(None))
        self.known, self.partly = [], None
        for at, line, number in self.places:
            if number == 0:
                del self.known[at:]
                self.known += [None] * (at - len(self.known))
                self.known.append(line)
            self.partly = number + 1

    @rule()
    def let_go_of_the_file(self) -> None:
        self.tail.close()
        self.is_held, self.held = False, None

    def start_again(self, known: Known | None) -> None:
        self.tail.close()
        self.tail = self.made(known)
        self.is_held, self.held = False, None

    # What should come of it.

    def model(self) -> None:
        if self.held is not None:
            self.model_lines(self.held.split(b"\n")[:-1])
        self.held, self.is_held = None, self.content is not None
        if self.content is not None:
            self.model_lines(self.content.split(b"\n")[:-1])

    def model_lines(self, lines: list[bytes]) -> None:
        groups = by_line(lines)
        for at, line in enumerate(lines):
            if at < len(self.known) and self.known[at] in (None, line):
                self.known[at] = line
                if at + 1 == len(self.known) and self.partly is not None:
                    self.expect(at, line, groups[at], self.partly)
                    self.partly = None
                continue
            self.known[at:] = [line]
            self.partly = None
            self.expect(at, line, groups[at], 0)

    def expect(self, at: int, line: bytes, events: list[Event], start: int) -> None:
        self.expected += events[start:]
        self.places += [(at, line, number) for number in range(start, len(events))]

    @invariant()
    def as_the_model_says(self) -> None:
        if hasattr(self, "given"):
            assert [encode(event) for event in self.given] == [encode(event) for event in self.expected]


Tailing.TestCase.settings = settings(examples(150), stateful_step_count=25)
TestTailing = Tailing.TestCase


@given(lines=st.lists(st.sampled_from(LINES), max_size=12), chunk=st.integers(1, 200))
@PATIENT
def test_a_journal_cut_at_any_event_is_continued_without_loss_or_repeat(lines: list[bytes], chunk: int) -> None:
    """For every prefix of the events: what was recorded and what is given out then are all events, once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        whole = [event for batch in FileTail(path, opened).read() for event in batch]
        for kept in range(len(whole) + 1):
            for verbatim in (True, False):
                known = known_lines(whole[:kept], verbatim=verbatim).get(None)
                tail = FileTail(path, opened, known=known, max_read_bytes=chunk)
                assert whole[:kept] + [event for batch in tail.read() for event in batch] == whole
                tail.close()
