"""A bucket on an S3 server of this machine (moto), for tests of the fleet."""

from __future__ import annotations

import logging
import urllib.request
from collections.abc import Iterator
from itertools import count

import pytest

_numbers = count(1)


@pytest.fixture(scope="session")
def s3_address() -> Iterator[str]:
    """The address of an S3 server."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3_address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a new bucket; the environment says where it is, for this process and those that it starts."""
    name = f"bucket-{next(_numbers)}"
    urllib.request.urlopen(urllib.request.Request(f"{s3_address}/{name}", method="PUT"), timeout=60).close()
    use_s3(monkeypatch, s3_address)
    return f"s3://{name}/tenant"


def use_s3(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Let `s3://` be on a server of this machine."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "something")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
