"""The server of a replay."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import msgspec

from stenograph.export.wording import json_bytes
from stenograph.replay.http_server import Handler, listening
from stenograph.replay.session import ReplaySession, Reply


def serving(session: ReplaySession, port: int = 0) -> AbstractContextManager[str]:
    """Serve a replay while the block runs; yields the address, without a path. Port 0 takes a free one."""

    class ReplayHandler(_ReplayHandler):
        replay = session

    return listening(ReplayHandler, port)


class _ReplayHandler(Handler):
    replay: ReplaySession

    def head(self) -> None:
        self._other(200, {})

    def get(self) -> None:
        """The list of models is empty; a websocket is refused, after which agents use plain HTTP."""
        if self.headers.get("upgrade"):
            self._other(426, {"error": {"message": "steno replay has no websockets"}})
        elif self.bare_path.endswith("/models"):
            self._other(200, {"object": "list", "data": [], "has_more": False})
        else:
            self._other(404, {"error": {"message": "steno replay has nothing here"}})

    def post(self) -> None:
        """A request to a model."""
        try:
            body = msgspec.json.decode(self.body() or b"{}")
        except ValueError:
            self._other(400, {"error": {"message": "steno replay: the request is not JSON"}})
            return
        reply = self.replay.answer(self.bare_path, body)
        if reply.events is None:
            self.send_json(reply.status, reply.document)
        else:
            self._stream(reply)

    def _other(self, status: int, document: dict[str, Any]) -> None:
        self.replay.other(self.bare_path, status)
        self.send_json(status, document)

    def _stream(self, reply: Reply) -> None:
        assert reply.events is not None
        self.begin_chunks(reply.status, "text/event-stream")
        for event in reply.events:
            name = b"event: %s\n" % event["type"].encode() if reply.has_names else b""
            self.send_chunk(b"%sdata: %s\n\n" % (name, json_bytes(event)))
        if not reply.has_names:
            self.send_chunk(b"data: [DONE]\n\n")
        self.send_chunk(b"")
