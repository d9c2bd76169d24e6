"""The format that all model APIs share: lines and objects to calls, each passed to the dialect of its API.

A log may hold calls to several APIs (a proxy's does); every wrapper that names its path goes to that API's dialect, and
everything else to the format's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.shared.model_api.chat import Chat
from stenograph.formats.shared.model_api.dialect import Dialect
from stenograph.formats.shared.model_api.envelope import Api, Piece, api_of_answer, chunks_in, unwrap
from stenograph.formats.shared.model_api.messages import Messages
from stenograph.formats.shared.model_api.responses import Responses
from stenograph.model import mend
from stenograph.model.codec import REFUSALS
from stenograph.model.event import Event
from stenograph.model.payload import SystemPayload

_DIALECTS: dict[Api, type[Dialect]] = {"chat": Chat, "responses": Responses, "messages": Messages}
_FRAMING = (b"event:", b"id:", b"retry:", b":")
_SILENT = object()
"""A line of a stream's framing, without content."""
_END = object()
"""`data: [DONE]`."""
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class ApiFormat(LineFormat):
    """Calls to a model API. Subclasses set `name` and `api`."""

    api: Api = "chat"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._dialects: dict[Api, Dialect] = {}

    def feed_object(self, record: Any) -> list[Event]:
        """The events of one record; SDK objects (with `model_dump`) are accepted, also inside it."""
        return super().feed_object(_plain(record))

    def _decode(self, line: bytes) -> Any:
        if line[:1] in b"{[":
            return _decode(line)
        if line.startswith(b"data:"):
            return self._data(line[5:].strip())
        return _SILENT if line.startswith(_FRAMING) else _decode(line)

    def _data(self, data: bytes) -> Any:
        if not data or data == b"[DONE]":
            return _END if data else _SILENT
        try:
            return _decode(data)
        except REFUSALS:
            try:
                value, replaced = mend.parse_json(data)
            except (ValueError, RecursionError):
                raise RecursionError from None  # the base keeps the line as it is
        self.report.replaced += replaced
        return value

    def _guarded(self, map: Callable[[Any], None], record: Any, line: bytes | None = None) -> None:
        super()._guarded(map, record)  # the record is the decoded value itself; its line may not be JSON (`data: …`)

    def _map(self, record: Any) -> None:
        before = len(self._out)
        is_taken = record is _SILENT
        if record is _END:
            self._finish()
            is_taken = True
        pieces = unwrap(record)
        for piece in pieces:
            self._place(piece.time, session_id=piece.session)
            is_taken = self._take(piece) or is_taken
        if len(self._out) > before:
            return
        if is_taken:
            self._accumulate()
        else:
            self._unknown(record, record.get("type") if isinstance(record, dict) else None)

    def _finish(self) -> None:
        for dialect in self._dialects.values():
            dialect.flush()

    def _dialect(self, api: Api | None) -> Dialect:
        name = api or self.api
        if name not in self._dialects:
            self._dialects[name] = _DIALECTS[name](self._emit, self._unknown)
        return self._dialects[name]

    def _take(self, piece: Piece) -> bool:
        """Pass a piece to its dialect; False when no dialect takes it."""
        # An answer shows which API it is from, also without a wrapper.
        dialect = self._dialect(piece.api or (api_of_answer(piece.body) if piece.kind == "bare" else None))
        dialect.call = piece.call
        match piece.kind:
            case "request":
                dialect.request(piece.body)
            case "response":
                dialect.response(piece.body)
            case "stream" if piece.api is not None and not piece.body:
                dialect.response({})  # it ended before any content
            case "stream":
                return self._take_list(dialect, piece.body)
            case "error":
                dialect.error(piece.body, piece.status)
            case "other":
                self._emit("system.event", SystemPayload(subtype="http", data=piece.body))
            case "bare":
                return dialect.bare(piece.body)
        return True

    def _take_list(self, dialect: Dialect, items: list[Any]) -> bool:
        """A conversation or a whole stream in one array: emitted to its end, also when it broke off."""
        chunks = chunks_in(items)
        if not chunks:
            return False
        if all("role" in item or "content" in item for item in chunks):
            dialect.request({dialect.items_key: chunks})
            return True
        is_taken = [dialect.bare(chunk) for chunk in chunks]
        dialect.flush()
        return any(is_taken)


def _plain(value: Any) -> Any:
    """A record without SDK objects; values that are nested too deeply stay as they are."""
    try:
        _encode(value)
    except (TypeError, UnicodeEncodeError, RecursionError):
        pass
    else:
        return value  # most are plain, and this check is fast
    try:
        return _dumped(value)
    except RecursionError:
        return value


def _dumped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _dumped(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_dumped(item) for item in value]
    dump = getattr(value, "model_dump", None)
    if dump is None:
        return value
    try:
        # Fields that were not set were not sent: a plain dump would add nulls.
        return dump(mode="json", exclude_unset=True)
    except TypeError:
        return dump()
