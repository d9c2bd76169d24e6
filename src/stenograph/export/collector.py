"""Where traces are sent, with headers and certificates: from options and from OpenTelemetry's variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from stenograph.errors import InvalidOption

_PATH = "/v1/traces"
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")


class Collector(Struct, frozen=True, kw_only=True):
    """A receiver of OTLP over HTTP."""

    url: str
    """With the path for traces."""
    headers: dict[str, str] = {}
    """In addition to those that the protocol needs."""
    certificate: str | None = None
    """A file with the certificates to trust instead of the system's."""
    client_certificate: str | None = None
    client_key: str | None = None
    is_gzipped: bool = False


def collector_of(endpoint: str, headers: Iterable[str] = (), environment: Mapping[str, str] | None = None) -> Collector:
    """The collector at an address, with or without the path for traces.

    `headers` are texts like `name=value`, added to those in OTEL_EXPORTER_OTLP_HEADERS; certificates and compression
    come from OpenTelemetry's variables. Raises `InvalidOption`.
    """
    variables = os.environ if environment is None else environment
    wanted = dict(
        _header(unquote(each), "OTEL_EXPORTER_OTLP_HEADERS") for each in _listed(_variable(variables, "HEADERS"))
    )
    wanted |= dict(_header(each, "--header") for each in headers)
    return Collector(
        url=_address(endpoint),
        headers=wanted,
        certificate=_variable(variables, "CERTIFICATE"),
        client_certificate=_variable(variables, "CLIENT_CERTIFICATE"),
        client_key=_variable(variables, "CLIENT_KEY"),
        is_gzipped=_variable(variables, "COMPRESSION") == "gzip",
    )


def _address(endpoint: str) -> str:
    try:
        parts = urlsplit(endpoint)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or _UNPRINTABLE.search(endpoint) or " " in endpoint:
        raise InvalidOption(f"{endpoint!r} is not the address of a collector; give one like http://127.0.0.1:4318")
    if parts.username is not None:
        raise InvalidOption(
            "the address must not contain a password; send it as a header: --header 'authorization=Basic …'"
        )
    if parts.query or parts.fragment:
        raise InvalidOption(f"{endpoint!r} has more than a host and a path; give an address like http://127.0.0.1:4318")
    url = endpoint.rstrip("/")
    return url if url.endswith(_PATH) else url + _PATH


def _variable(environment: Mapping[str, str], name: str) -> str | None:
    """A variable of OpenTelemetry: the one for traces, else the general one."""
    return environment.get(f"OTEL_EXPORTER_OTLP_TRACES_{name}") or environment.get(f"OTEL_EXPORTER_OTLP_{name}") or None


def _listed(text: str | None) -> list[str]:
    return [each for each in (text or "").split(",") if each.strip()]


def _header(text: str, where: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not sign or not _NAME.fullmatch(name) or _UNPRINTABLE.search(value) or not value.isascii():
        raise InvalidOption(f"{where} has a header that is not name=value; correct it")
    return name.lower(), value
