"""Secrets that are planted everywhere, and a search for them that sees through escapes."""

from __future__ import annotations

import base64
import binascii
import html
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

# Every secret here is made up and put together on the spot, so that no scanner takes it for a real one.
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
TOKENS = [
    "sk-" + "ant-api03-" + "aB3dE6" * 6,
    "sk-" + "or-v1-" + "0a1b2c3d" * 8,
    "sk-" + "proj-" + "aB3_dE6-" * 6,
    "AKIA" + "ABCDEFGH23456789",
    "AIza" + "Sy0123456789abcdefghijABCDEFGHIJ-_x1y",
    "GOCSPX-" + "aB3dE6gH1jK4mN7pQ0sT5v",
    "ghp_" + "a1B2c3" * 6,
    "github_pat_" + "11ABCDEFG0" * 3,
    "glpat-" + "aB3dE6gH1jK4mN7pQ0sT",
    "xoxb-" + "1234567890-abcdefgh",
    "sk_" + "live_" + "aB3dE6gH1jK4",
    "npm_" + "aB3dE6gH1j" * 4,
    "pypi-" + "AgEIcHlwaS5vcmc" + "aB3dE6gH1jK4mN7pQ0sT" * 3,
    "hf_" + "aB3dE6gH1j" * 4,
    "SG." + "a1B2c3d4e5F6g7h8" + "." + "i9J0k1L2m3N4o5P6q7",
    "SK" + "0123456789abcdef" * 2,
    "dop_" + "v1_" + "0123456789abcdef" * 4,
    "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0In0" + ".c2ln_bmF0-dXJl",
]
"""What shows by itself, alone or amid anything."""
NAMED = 'Tr0ub4dor & "3" <ü/%>'
"""What only its owner can name, with every letter that somebody escapes."""
PHRASES = [
    ("postgres://ada:{}@db/shop", "s3cr3t-Pa55"),
    ("curl -u ada:{} https://example.org", "s3cr3t-Pa55"),
    ("Authorization: Bearer {}", "9f8e7d6c5b4a39281706f5e4d3c2b1a0"),
    ("export DB_PASSWORD={}", "s3cr3t-Pa55"),
    ("--api-key {} run", "9f8e7d6c5b4a39281706"),
    ("Cookie: sid={}; theme=dark", "9f8e7d6c5b4a39281706"),
    ('{{"name": "DB_PASSWORD", "value": "{}"}}', "s3cr3t-Pa55"),
    ("- name: DB_PASSWORD\n  value: {}\n", "s3cr3t-Pa55"),
    ("-----BEGIN " + "PRIVATE KEY-----\n{}\n-----END " + "PRIVATE KEY-----\n", BODY),
]
"""Secrets that show by what stands around them."""
NEEDLES = [*TOKENS, NAMED, *{secret for _, secret in PHRASES}]


def sightings(data: bytes) -> set[str]:
    """The planted secrets that are in some bytes, plainly or by one of the usual spellings."""
    text = data.decode("utf-8", "replace")
    texts = {text, html.unescape(text), unquote_plus(text), _unescaped(text), *_unpacked(text)}
    return {needle for needle in NEEDLES if any(needle in each for each in texts)}


def _unescaped(text: str) -> str:
    """As JSON says it, however often it was escaped."""
    text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    return re.sub(r"\\+([\"/])", r"\1", text)


def _unpacked(text: str) -> Iterator[str]:
    for run in re.findall(r"[A-Za-z0-9+/]{16,}(?:(?:\n|\\n)[A-Za-z0-9+/]+)*={0,2}", text):
        letters = re.sub(r"\n|\\n", "", run).rstrip("=")
        try:
            yield base64.b64decode(letters + "=" * (-len(letters) % 4)).decode("utf-8", "replace")
        except binascii.Error:
            continue


def sightings_in_zip(path: Path) -> dict[str, set[str]]:
    """The files of a zip that hold a secret, or are called by one."""
    found: dict[str, set[str]] = {}
    with zipfile.ZipFile(path) as bundle:
        for info in bundle.infolist():
            seen = sightings(bundle.read(info)) | sightings(info.filename.encode()) | sightings(info.comment)
            if seen:
                found[info.filename.partition("/")[2]] = seen
    return found


def places(value: Any) -> Iterator[tuple[Any, ...]]:
    """Every place in JSON where a text can stand: values of any kind, and `...` for the key of a field."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (key, ...)
            yield from ((key, *rest) for rest in places(item))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from ((number, *rest) for rest in places(item))
    yield ()


def planted(value: Any, place: tuple[Any, ...], secret: Any) -> Any:
    """A copy of the value with the secret in that place."""
    if not place:
        return secret
    key, *rest = place
    if rest == [...]:
        return {secret if name == key else name: item for name, item in value.items()}
    if isinstance(value, dict):
        return {name: planted(item, tuple(rest), secret) if name == key else item for name, item in value.items()}
    return [planted(item, tuple(rest), secret) if number == key else item for number, item in enumerate(value)]
