"""The OTLP endpoints `/v1/traces` and `/v1/logs` over HTTP, and who may send there.

Web pages may not send: a browser marks their requests by `Origin` or `Sec-Fetch-Site`, and these are refused. An answer
of 200 means that the request's bytes are on disk. A refusal says why in one line.
"""

from __future__ import annotations

import hmac
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from stenograph.archive.received.receiver import BODY_BYTES, JSON, PROTOBUF, Busy, Receiver, TooLarge
from stenograph.errors import MissingExtra, StoreError
from stenograph.formats.otlp.protobuf import NotOtlp, Signal

_OF_A_PAGE = ("origin", "sec-fetch-site")
_ENCODINGS = ("gzip", "identity", "")
_RETRY = {"Retry-After": "2"}


class Refusal(Exception):
    """A request that is not accepted: the status and the reason."""

    def __init__(self, status: int, reason: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.headers = headers


def application(receiver: Receiver, token: str | None) -> ASGIApp:
    """The two endpoints, for senders with the token, if there is one."""

    async def accept(request: Request) -> Response:
        kind = _media_type(request)
        try:
            _check_sender(request, token)
            await _accept(receiver, request, kind)
        except Refusal as refusal:
            return _refused(refusal, kind)
        except ClientDisconnect:  # the client is gone
            return Response(status_code=400)
        return Response(b"{}" if kind == JSON else b"", media_type=kind)

    return Starlette(routes=[Route(signal, accept, methods=["POST"]) for signal in Signal])


def _check_sender(request: Request, token: str | None) -> None:
    if any(name in request.headers for name in _OF_A_PAGE):
        raise Refusal(403, "web pages may not send here")
    if token is None:
        return
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(sent.strip().encode(), token.encode()):
        raise Refusal(401, "the token is missing or wrong; set OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20TOKEN")


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _accept(receiver: Receiver, request: Request, kind: str) -> None:
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if kind not in (JSON, PROTOBUF):
        raise Refusal(415, f"the content type must be {PROTOBUF} or {JSON}")
    if encoding not in _ENCODINGS:
        raise Refusal(415, "the content encoding must be gzip or none")
    body = await _body(request)
    try:
        await run_in_threadpool(receiver.receive, Signal(request.url.path), kind, encoding or "identity", body)
    except NotOtlp as error:
        raise Refusal(400, str(error)) from error
    except TooLarge as error:
        raise Refusal(413, str(error)) from error
    except MissingExtra as error:
        raise Refusal(415, f"{error}; or send JSON: OTEL_EXPORTER_OTLP_PROTOCOL=http/json") from error
    except (Busy, StoreError) as error:
        raise Refusal(503, str(error), _RETRY) from error


async def _body(request: Request) -> bytes:
    """The whole body; one that is too large is not read to its end."""
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > BODY_BYTES:
        raise Refusal(413, f"larger than {BODY_BYTES >> 20} MB")
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        pieces.append(piece)
        size += len(piece)
        if size > BODY_BYTES:
            raise Refusal(413, f"larger than {BODY_BYTES >> 20} MB")
    return b"".join(pieces)


def _refused(refusal: Refusal, kind: str) -> Response:
    """The reason as OTLP requires: a `Status` in the encoding of the request."""
    if kind == PROTOBUF:
        return Response(_status(refusal.reason), refusal.status, refusal.headers, PROTOBUF)
    import msgspec

    content: Any = msgspec.json.encode({"message": refusal.reason})
    return Response(content, refusal.status, refusal.headers, JSON)


def _status(reason: str) -> bytes:
    """`google.rpc.Status` with nothing but its message, which is field 2."""
    text = reason.encode()
    length = len(text)
    size = bytearray()
    while length > 0x7F:
        size.append(length & 0x7F | 0x80)
        length >>= 7
    return b"\x12" + bytes([*size, length]) + text
