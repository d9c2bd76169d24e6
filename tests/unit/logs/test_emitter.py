"""The emitter: entries as structured DEBUG records."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.logs import JsonFormatter, TranscriptEmitter
from stenograph.transcript.entry import ROLES

ENVELOPE = {"prompt_name", "adapter", "entry_type", "sequence_number", "source", "timestamp"}


class Kept(logging.Handler):
    """Keeps every record."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    @property
    def contexts(self) -> list[dict[str, Any]]:
        return [record.context for record in self.records if record.event == "transcript.entry"]


class Broken(logging.Handler):
    """A handler that fails in the way that logging itself does not catch."""

    def handle(self, record: logging.LogRecord) -> bool:
        raise RuntimeError("no space left")


@pytest.fixture
def kept() -> Iterator[Kept]:
    handler = Kept()
    logger = logging.getLogger("test.emitter")
    logger.setLevel(logging.DEBUG)
    logger.addHandler(handler)
    yield handler
    logger.handlers.clear()
    logger.setLevel(logging.NOTSET)


def emitter(**more: Any) -> TranscriptEmitter:
    return TranscriptEmitter(
        **{"prompt_name": "review", "adapter": "test", "logger": logging.getLogger("test.emitter"), **more}
    )


@pytest.mark.parametrize("entry_type", ROLES)
def test_every_type_has_the_whole_envelope(kept: Kept, entry_type: str) -> None:
    """Each of the nine types is one DEBUG record with the document's event, message and required keys."""
    emitter(session_id="s1").emit(entry_type, content="hello", detail={"a": 1}, raw="{}")
    (record,) = kept.records
    assert (record.levelno, record.event, record.getMessage()) == (
        logging.DEBUG,
        "transcript.entry",
        f"transcript entry: {entry_type}",
    )
    assert set(record.context) >= ENVELOPE | {"session_id", "detail", "raw", "role", "content", "entry_id"}
    assert record.context["entry_type"] == entry_type
    assert record.context["role"] == ROLES[entry_type]
    assert record.name == "test.emitter"


def test_the_human_fields_ride_along(kept: Kept) -> None:
    """What a person reads is in the context, too, and absent where it was not given."""
    given = UUID(int=7)
    one = emitter()
    one.emit(
        "tool_use", tool_name="Read", tool_call_id="c1", tool_input={"path": "a"}, metadata={"m": 1}, entry_id=given
    )
    one.emit("user_message", content="hi", role="system")
    first, second = kept.contexts
    assert (first["tool_name"], first["tool_call_id"], first["tool_input"]) == ("Read", "c1", {"path": "a"})
    assert (first["metadata"], first["entry_id"]) == ({"m": 1}, str(given))
    assert second["role"] == "system"
    assert not {"tool_name", "tool_input", "metadata", "detail", "raw", "session_id"} & set(second)


def test_numbers_count_per_source(kept: Kept) -> None:
    """1, 2, 3 … for each source by itself."""
    one = emitter()
    for source in ("main", "subagent:a", "main", "subagent:a", "main"):
        one.emit("assistant_message", source=source)
    assert [(each["source"], each["sequence_number"]) for each in kept.contexts] == [
        ("main", 1),
        ("subagent:a", 1),
        ("main", 2),
        ("subagent:a", 2),
        ("main", 3),
    ]


def test_a_type_nobody_knows_is_unknown(kept: Kept) -> None:
    """The vocabulary is closed: another type is `unknown` and keeps its name."""
    emitter().emit("novelty", detail={"a": 1})
    (context,) = kept.contexts
    assert context["entry_type"] == "unknown"
    assert context["detail"] == {"subtype": "novelty", "a": 1}


def test_raw_is_left_out_when_asked(kept: Kept) -> None:
    """`emit_raw=False` leaves `raw` out and nothing else."""
    emitter(emit_raw=False).emit("unknown", raw="{}", content="x")
    assert "raw" not in kept.contexts[0]
    assert kept.contexts[0]["content"] == "x"


def test_the_time_is_now_unless_given(kept: Kept) -> None:
    """A given timestamp stays as it was written; otherwise it is the moment of emission, in UTC."""
    one = emitter()
    before = datetime.now(UTC)
    one.emit("error")
    one.emit("error", timestamp="2026-01-02T03:04:05Z")
    one.emit("error", timestamp=datetime(2026, 1, 2, 3, 4, 5))
    now, text, naive = (each["timestamp"] for each in kept.contexts)
    assert timedelta(0) <= datetime.fromisoformat(now) - before.replace(microsecond=0) < timedelta(minutes=1)
    assert now.endswith("+00:00")
    assert text == "2026-01-02T03:04:05Z"
    assert naive == "2026-01-02T03:04:05+00:00"


def test_start_stop_and_error(kept: Kept) -> None:
    """The taxonomy of the document: start and stop are DEBUG, stop has the summary, an error is a WARNING."""
    one = emitter(session_id="s")
    one.start(paths=["a"])
    one.emit("user_message")
    one.emit("tool_use", source="subagent:x")
    one.error("cannot read a", path="a")
    summary = one.stop(open=["a"])
    start, _, _, error, stop = kept.records
    assert [each.event for each in (start, error, stop)] == ["transcript.start", "transcript.error", "transcript.stop"]
    assert [each.levelname for each in (start, error, stop)] == ["DEBUG", "WARNING", "DEBUG"]
    assert error.context == {
        "prompt_name": "review",
        "adapter": "test",
        "run_id": one.run_id,
        "session_id": "s",
        "path": "a",
    }
    assert error.getMessage() == "cannot read a"
    assert stop.context["open"] == ["a"]
    assert stop.context["summary"]["entries_by_type"] == {"user_message": 1, "tool_use": 1}
    assert (summary.total_entries, summary.sources) == (2, ("main", "subagent:x"))


def test_sixteen_threads_leave_no_gap(kept: Kept) -> None:
    """Under concurrency the numbers of each source are gapless and in the order in which handlers saw them."""
    one = emitter()
    barrier = threading.Barrier(16)

    def work(number: int) -> None:
        barrier.wait()
        for _ in range(200):
            one.emit("assistant_message", source=f"subagent:{number % 3}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for source in ("subagent:0", "subagent:1", "subagent:2"):
        numbers = [each["sequence_number"] for each in kept.contexts if each["source"] == source]
        assert numbers == list(range(1, len(numbers) + 1))
    assert len(kept.contexts) == 16 * 200
    moments = [each["timestamp"] for each in kept.contexts]
    assert moments == sorted(moments)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=20))
def test_moments_never_go_back(ticks: list[int]) -> None:
    """Whatever the clock does; a moment that is given is taken as it is."""
    began = datetime(2026, 1, 1, tzinfo=UTC)
    clock = iter(began + timedelta(milliseconds=tick) for tick in ticks)
    seen = Kept()
    logger = logging.Logger("test.clock", logging.DEBUG)
    logger.addHandler(seen)
    one = TranscriptEmitter(prompt_name="p", adapter="a", logger=logger)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stenograph.logs.emitter.datetime", type("Clock", (), {"now": lambda _: next(clock)}))
        for _ in ticks:
            one.emit("user_message")
    moments = [datetime.fromisoformat(each["timestamp"]) for each in seen.contexts]
    assert moments == [began + timedelta(milliseconds=max(ticks[: at + 1])) for at in range(len(ticks))]
    one.emit("user_message", timestamp=began - timedelta(days=1))
    assert datetime.fromisoformat(seen.contexts[-1]["timestamp"]) == began - timedelta(days=1)


def test_a_broken_handler_never_reaches_the_host(lenient: None, kept: Kept, caplog: pytest.LogCaptureFixture) -> None:
    """What a handler cannot take is counted and told, and the host goes on."""
    one = emitter()
    broken = Broken()
    logging.getLogger("test.emitter").addHandler(broken)
    one.emit("user_message")
    one.stop()
    logging.getLogger("test.emitter").removeHandler(broken)
    one.emit("user_message")
    assert one.lost == 1
    assert [each["sequence_number"] for each in kept.contexts] == [1, 2]
    assert "no space left" in caplog.text


def test_unserializable_values_are_told(kept: Kept) -> None:
    """Whatever the host hands over becomes JSON before any handler sees it."""

    class Odd:
        def __repr__(self) -> str:
            return "<odd>"

    emitter().emit("tool_use", detail={"x": Odd()}, tool_input={"y": {1, 2}}, metadata={"z": float("nan")})
    line = JsonFormatter().format(kept.records[0])
    context = json.loads(line)["context"]
    assert context["detail"] == {"x": "<odd>"}
    assert context["metadata"] == {"z": "nan"}


def test_a_reentrant_handler_does_not_hang(kept: Kept) -> None:
    """A handler may itself emit: the emitter does not wait for itself."""
    one = emitter()

    class Echo(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.context["content"] == "first":  # type: ignore[attr-defined]
                one.emit("assistant_message", content="echo")

    logging.getLogger("test.emitter").addHandler(Echo())
    one.emit("assistant_message", content="first")
    assert sorted(each["sequence_number"] for each in kept.contexts) == [1, 2]


def test_without_debug_nothing_is_logged_and_everything_counted(kept: Kept) -> None:
    """A host that wants no DEBUG pays nothing, and the summary is still right."""
    logging.getLogger("test.emitter").setLevel(logging.INFO)
    one = emitter()
    one.emit("user_message")
    assert kept.records == []
    assert one.summary().total_entries == 1


def test_the_default_logger_is_the_emitting_module() -> None:
    """Without a logger the record names the module that emits."""
    kept = Kept()
    logger = logging.getLogger("stenograph.logs.emitter")
    logger.addHandler(kept)
    logger.setLevel(logging.DEBUG)
    try:
        TranscriptEmitter(prompt_name="p", adapter="a").emit("error")
    finally:
        logger.removeHandler(kept)
        logger.setLevel(logging.NOTSET)
    assert [record.name for record in kept.records] == ["stenograph.logs.emitter"]
