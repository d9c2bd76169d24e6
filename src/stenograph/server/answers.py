"""Responses: pages, JSON and text, compressed if that pays."""

from __future__ import annotations

import gzip
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from stenograph.model import mend

_WORTH_COMPRESSING = 1024
_encode = msgspec.json.Encoder(enc_hook=str).encode


def answer(
    request: Request, body: bytes, kind: str, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """An answer of a type."""
    more = {"vary": "accept-encoding", **(headers or {})}
    if len(body) > _WORTH_COMPRESSING and "gzip" in request.headers.get("accept-encoding", ""):
        body = gzip.compress(body, 4, mtime=0)
        more["content-encoding"] = "gzip"
    return Response(body, status, {**more, "content-type": kind})


def html(request: Request, text: str, status: int = 200) -> Response:
    """A page."""
    return answer(request, text.encode("utf-8", "replace"), "text/html; charset=utf-8", status)


def json(request: Request, value: Any, status: int = 200) -> Response:
    """A JSON document."""
    plain, _ = mend.scrub(msgspec.to_builtins(mend.plain(value)))
    return answer(request, _encode(plain) + b"\n", "application/json", status)


def redirect(place: str) -> Response:
    """Redirect to an address with GET."""
    return Response(b"", 303, {"location": place})
