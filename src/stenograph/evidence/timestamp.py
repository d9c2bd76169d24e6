"""Time stamps (RFC 3161) beside a checkpoint: an authority says when it existed. OpenSSL does the work."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from stenograph.errors import BadSignature, StoreError, WitnessRefused
from stenograph.evidence.tiles import write_file

_SECONDS = 20.0
_QUERY, _REPLY = "application/timestamp-query", "application/timestamp-reply"
_LARGEST = 1 << 20


def stamp_of(file: Path) -> Path:
    """The path of a file's time stamp."""
    return file.with_name(f"{file.name}.tsr")


def stamp(url: str, file: Path) -> Path:
    """Have an authority stamp a file: its answer is in `FILE.tsr`. Raises `WitnessRefused` or `StoreError`."""
    query = _openssl("-query", "-data", str(file), "-sha256", "-cert")
    answer = _post(url, query)
    reply = stamp_of(file)
    write_file(reply, answer)
    try:
        said = _openssl("-reply", "-in", str(reply), "-text").decode("utf-8", "replace")
    except StoreError as error:
        reply.unlink()
        raise WitnessRefused(f"{url} did not answer with a time stamp: {error}", url) from error
    if re.search(r"^Status: Granted", said, re.MULTILINE) is None:
        reply.unlink()
        raise WitnessRefused(f"{url} did not stamp {file}: {_line(said, 'Status')}", url)
    return reply


def check_stamp(file: Path, reply: Path, authority: Path) -> str:
    """When an authority (a file with its certificates) saw the file. Raises `BadSignature` for another stamp."""
    try:
        _openssl("-verify", "-data", str(file), "-in", str(reply), "-CAfile", str(authority))
        said = _openssl("-reply", "-in", str(reply), "-text").decode("utf-8", "replace")
    except StoreError as error:
        raise BadSignature(f"{reply} is not a time stamp of {file} by {authority}: {error}", str(reply)) from error
    return _line(said, "Time stamp")


def _line(text: str, name: str) -> str:
    found = re.search(rf"^{name}: (.*)$", text, re.MULTILINE)
    return found[1].strip() if found else "unknown"


def _openssl(*arguments: str) -> bytes:
    try:
        done = subprocess.run(["openssl", "ts", *arguments], capture_output=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise StoreError(f"cannot run openssl: {error.strerror}; install OpenSSL", "") from error
    if done.returncode:
        lines = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if ":" in line]
        raise StoreError(lines[-1].strip() if lines else f"openssl ended with code {done.returncode}", "")
    return done.stdout


def _post(url: str, query: bytes) -> bytes:
    from urllib.error import URLError  # with http and ssl: only where an authority is asked
    from urllib.request import Request, urlopen

    if not url.startswith(("http://", "https://")):
        raise WitnessRefused(f"{url} is not the address of an authority; it begins with https://", url)
    request = Request(url, data=query, headers={"Content-Type": _QUERY, "Accept": _REPLY}, method="POST")
    try:
        with urlopen(request, timeout=_SECONDS) as answer:
            data: bytes = answer.read(_LARGEST)
            return data
    except (URLError, OSError, ValueError) as error:
        raise WitnessRefused(f"the authority {url} did not stamp: {error}; try again later", url) from error
