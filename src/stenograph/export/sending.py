"""Sends a trace to a collector over HTTP."""

from __future__ import annotations

import gzip
import ssl
import urllib.error
import urllib.request
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPMessage
from typing import IO, Any

import msgspec

from stenograph.errors import StoreError
from stenograph.export.collector import Collector
from stenograph.export.otlp_protobuf import rejection_in

PATIENCE = 30.0
"""Seconds to wait for an answer."""
JSON, PROTOBUF = "application/json", "application/x-protobuf"
_OF_THE_DATA = frozenset({400, 413, 422})
"""HTTP status codes about the request itself; others are about the collector or about permission."""
_LONGEST_ANSWER = 1 << 20


class NotSent(StoreError):
    """A collector did not accept a trace."""

    def __init__(self, message: str, url: str, status: int | None = None, retry_after: float | None = None) -> None:
        self.status = status
        """The status of its answer; None if there was none."""
        self.retry_after = retry_after
        """Seconds after which it asks for a retry, if it says so."""
        super().__init__(message, url)

    @property
    def is_refusal(self) -> bool:
        """Whether these spans are refused for good: sending them again would not help."""
        return self.status in _OF_THE_DATA


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Redirects are not followed: the other address would get the headers, and the body would be lost."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


def send_trace(data: bytes, collector: Collector, kind: str = JSON, patience: float = PATIENCE) -> tuple[int, str]:
    """POST an OTLP request; returns how many of its spans the collector refused, and why.

    Raises `NotSent` if the request is not accepted.
    """
    url = collector.url
    headers = {"User-Agent": "stenograph", **collector.headers, "content-type": kind}
    if collector.is_gzipped:
        data, headers["content-encoding"] = gzip.compress(data, 6, mtime=0), "gzip"
    opener = urllib.request.build_opener(_StayHere, *_secured(collector))
    try:
        request = urllib.request.Request(url, data, headers, method="POST")
        with opener.open(request, timeout=patience) as answer:
            return _rejection(answer.headers.get_content_type(), answer.read(_LONGEST_ANSWER))
    except urllib.error.HTTPError as error:
        with error:
            message = f"{url} refused the trace: {error.code} {error.reason}{_advice(error.code)}"
            raise NotSent(message, url, error.code, _retry_after(error.headers)) from error
    except (OSError, ValueError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error or type(error).__name__
        raise NotSent(f"cannot send the trace to {url}: {reason}; check the endpoint", url) from error


def _advice(status: int) -> str:
    match status:
        case 401 | 403:
            return "; give the headers it needs with --header, or in OTEL_EXPORTER_OTLP_HEADERS"
        case 415:
            return "; send protobuf, which every collector takes: --to otlp-protobuf"
        case 413:
            return "; it is too large for this collector"
    return "; check the endpoint"


def _secured(collector: Collector) -> list[Any]:
    """The certificates for `https`, if not the system's own."""
    if not (collector.certificate or collector.client_certificate):
        return []
    try:
        context = ssl.create_default_context(cafile=collector.certificate)
        if collector.client_certificate:
            context.load_cert_chain(collector.client_certificate, collector.client_key)
    except OSError as error:
        named = collector.client_certificate or collector.certificate
        raise NotSent(
            f"cannot use the certificate {named}: {error}; check OTEL_EXPORTER_OTLP_CERTIFICATE", ""
        ) from error
    return [urllib.request.HTTPSHandler(context=context)]


def _rejection(kind: str, answer: bytes) -> tuple[int, str]:
    if kind == PROTOBUF:
        return rejection_in(answer)
    try:
        partial = msgspec.json.decode(answer)["partialSuccess"]
        return int(partial.get("rejectedSpans", 0)), str(partial.get("errorMessage", ""))
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError, ValueError, UnicodeDecodeError):
        return 0, ""  # most answers are empty


def _retry_after(headers: Message) -> float | None:
    delay = headers.get("retry-after")
    if delay is None:
        return None
    if delay.strip().isdigit():
        return float(delay)
    try:
        return max(0.0, (parsedate_to_datetime(delay) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
