"""Log records as lines of JSON: `{timestamp, level, logger, event, message, context}`.

Any record of any library is written; `event` and `context` are there when the caller passed them as `extra`.
"""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import msgspec

from stenograph.errors import StoreError
from stenograph.jsonable import jsonable
from stenograph.model import mend

_encode = msgspec.json.Encoder().encode


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON; never raises, whatever the record carries."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON, without its newline."""
        return as_json(log_fields(record))


def log_fields(record: logging.LogRecord) -> dict[str, Any]:
    """The fields of a structured record; `bundle.records` makes records with the same ones."""
    fields: dict[str, Any] = {
        "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname,
        "logger": record.name,
        "event": getattr(record, "event", None),
        "message": _message(record),
        "context": getattr(record, "context", None) or {},
    }
    if record.exc_info:
        fields["exception"] = logging.Formatter().formatException(record.exc_info)
    if record.stack_info:
        fields["stack"] = record.stack_info
    return fields


def as_json(fields: dict[str, Any]) -> str:
    """Any values as one line of JSON: a value that JSON cannot hold becomes its `repr`, a lone surrogate U+FFFD."""
    try:
        return _encode(fields).decode()
    except Exception:  # noqa: BLE001  # a host may pass any value as `extra`, and the record must not be lost
        return _encode(mend.scrub(jsonable(fields))[0]).decode()


def configure_json_logging(
    target: str | Path | IO[str] | None = None, *, level: int = logging.DEBUG, logger: str | None = "stenograph"
) -> logging.Handler:
    """Write records as JSON lines: to a file (appended), to an open stream, or to stderr.

    `logger` is the logger whose records are written (None: the root, so those of every library). Adds one handler and
    returns it; other handlers stay as they are. A logger with a higher level gets this one.
    """
    handler: logging.Handler
    if isinstance(target, str | Path):
        try:
            handler = logging.FileHandler(target, encoding="utf-8")
        except OSError as error:
            raise StoreError(
                f"cannot write {target}: {error.strerror}; check the folder and its permissions", str(target)
            ) from error
    else:
        handler = logging.StreamHandler(sys.stderr if target is None else target)
    handler.setFormatter(JsonFormatter())
    handler.setLevel(level)
    owner = logging.getLogger(logger)
    if owner.getEffectiveLevel() > level:
        owner.setLevel(level)
    owner.addHandler(handler)
    return handler


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001  # the host's arguments do not fit its message, and the record must not be lost
        return str(record.msg)
