"""Log records as lines of JSON."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stenograph.errors import StoreError
from stenograph.logs import JsonFormatter, TranscriptEmitter, configure_json_logging


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger("test.formatter")
    yield logger
    for handler in logger.handlers[:]:
        logger.removeHandler(handler)
        handler.close()
    logger.setLevel(logging.NOTSET)


def test_a_record_has_the_six_fields(logger: logging.Logger) -> None:
    """Timestamp with milliseconds and offset, level, logger, event, message, context: in this order."""
    stream = io.StringIO()
    configure_json_logging(stream, logger="test.formatter")
    TranscriptEmitter(prompt_name="p", adapter="a", logger=logger).emit("user_message", content="日本\u2028語")
    logger.warning("plain %d", 5)
    first, second = stream.getvalue().split("\n")[:2]
    fields = json.loads(first)
    assert list(fields) == ["timestamp", "level", "logger", "event", "message", "context"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", fields["timestamp"])
    assert (fields["level"], fields["logger"], fields["event"]) == ("DEBUG", "test.formatter", "transcript.entry")
    assert fields["context"]["content"] == "日本\u2028語"
    assert json.loads(second) | {"timestamp": ""} == {
        "timestamp": "",
        "level": "WARNING",
        "logger": "test.formatter",
        "event": None,
        "message": "plain 5",
        "context": {},
    }


def test_a_traceback_is_kept(logger: logging.Logger) -> None:
    """An exception that was logged is in the line."""
    stream = io.StringIO()
    configure_json_logging(stream, logger="test.formatter")
    try:
        raise ValueError("boom")  # the exception is what is logged
    except ValueError:
        logger.exception("failed", stack_info=True)
    fields = json.loads(stream.getvalue())
    assert fields["exception"].endswith("ValueError: boom")
    assert fields["stack"].startswith("Stack")


def test_anything_a_host_logs_becomes_a_line() -> None:
    """Odd contexts, lone surrogates, arguments that do not fit: one line of JSON each, never an exception."""
    formatter = JsonFormatter()
    odd = logging.LogRecord("n", logging.INFO, "f", 1, "%d %d", ("x",), None)
    assert json.loads(formatter.format(odd))["message"] == "%d %d"
    for context in ({"a": object()}, {"b": "\ud83c"}, {3: {4}}, "text", {"loop": (loop := [])}):
        loop.append(loop) if context == {"loop": []} else None
        record = logging.LogRecord("n", logging.INFO, "f", 1, "m\n", (), None)
        record.context = context
        line = formatter.format(record)
        assert "\n" not in line
        json.loads(line.encode())


def test_a_file_is_appended_to(tmp_path: Path, logger: logging.Logger) -> None:
    """Records go to the end of the file, in UTF-8; other handlers keep working."""
    path = tmp_path / "app.jsonl"
    path.write_text("before\n")
    other = io.StringIO()
    logger.addHandler(logging.StreamHandler(other))
    handler = configure_json_logging(path, logger="test.formatter")
    logger.debug("grüße")
    handler.flush()
    assert path.read_text("utf-8").startswith("before\n{")
    assert json.loads(path.read_text("utf-8").splitlines()[1])["message"] == "grüße"
    assert other.getvalue() == "grüße\n"


def test_a_file_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    """The error names the file."""
    with pytest.raises(StoreError, match=r"cannot write .*nowhere/app\.jsonl"):
        configure_json_logging(tmp_path / "nowhere" / "app.jsonl", logger="test.formatter")


def test_a_quieter_logger_is_opened_and_a_louder_one_left(logger: logging.Logger) -> None:
    """The logger lets through what was asked for; it is never made quieter."""
    logger.setLevel(logging.WARNING)
    configure_json_logging(io.StringIO(), level=logging.INFO, logger="test.formatter")
    assert logger.level == logging.INFO
    logger.setLevel(5)
    configure_json_logging(io.StringIO(), logger="test.formatter")
    assert logger.level == 5
