"""Sends a trace to a collector over HTTP."""

from __future__ import annotations

import urllib.error
import urllib.request

from stenograph.errors import StoreError

PATIENCE = 30
"""Seconds to wait for an answer."""


JSON, PROTOBUF = "application/json", "application/x-protobuf"


def send_trace(data: bytes, endpoint: str, kind: str = JSON) -> None:
    """POST a request of OTLP to `ENDPOINT/v1/traces`. Raises `StoreError` when it is not taken."""
    url = endpoint.rstrip("/")
    url = url if url.endswith("/v1/traces") else f"{url}/v1/traces"
    try:
        request = urllib.request.Request(url, data, {"Content-Type": kind}, method="POST")
        with urllib.request.urlopen(request, timeout=PATIENCE):
            pass
    except urllib.error.HTTPError as error:
        with error:
            raise StoreError(
                f"{url} refused the trace: {error.code} {error.reason}; check the endpoint", url
            ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise StoreError(f"cannot send the trace to {url}: {reason}; check the endpoint", url) from error
