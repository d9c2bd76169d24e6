"""A `steno receive` in a process of its own, and clients that send to it."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec


class Receiving:
    """The process, by its archive."""

    def __init__(self, archive: Path, *arguments: str) -> None:
        self.archive = archive
        self._process = subprocess.Popen(
            [sys.executable, "-m", "stenograph", "receive", "--port", "0", "--archive", str(archive), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={name: value for name, value in os.environ.items() if not name.startswith("STENOGRAPH")},
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().decode().strip()
        assert self.address, self._process.communicate()[1].decode()

    def send(self, path: str, body: bytes, **headers: str) -> tuple[int, bytes]:
        """Send a request; the status and the body of its answer."""
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=240)
        try:
            connection.request("POST", path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def send_json(self, request: dict[str, Any], **headers: str) -> tuple[int, bytes]:
        """Send a request of OTLP as JSON."""
        path = "/v1/logs" if "resourceLogs" in request else "/v1/traces"
        return self.send(path, json.dumps(request).encode(), **{"content_type": "application/json", **headers})

    def send_gzip(self, request: dict[str, Any]) -> tuple[int, bytes]:
        """The same, packed."""
        path = "/v1/logs" if "resourceLogs" in request else "/v1/traces"
        body = gzip.compress(msgspec.json.encode(request))
        return self.send(path, body, content_type="application/json", content_encoding="gzip")

    def kill(self) -> None:
        """End it without a word."""
        self._process.kill()
        self._process.communicate()

    def stop(self) -> str:
        """End it as Ctrl-C does; what it said."""
        self._process.send_signal(signal.SIGINT)
        try:
            _, said = self._process.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        assert self._process.returncode == 0, said.decode()
        return said.decode()


@contextmanager
def receiving(archive: Path, *arguments: str) -> Iterator[Receiving]:
    """One that ends with the block."""
    process = Receiving(archive, *arguments)
    try:
        yield process
    finally:
        process.kill()
