"""A lake in a bucket, on an S3 server in a process of its own."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakes import differences, grow, growing, push_and_load
from stenograph import open_archive
from stenograph.fleet.lake.check import check
from stenograph.fleet.store.objects import open_store


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a bucket. A server in this process would wait for itself while DuckDB reads through Arrow."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        request = urllib.request.Request(f"{address}/bucket-of-ours", method="PUT")
        while True:
            try:
                urllib.request.urlopen(request, timeout=60).close()
                break
            except urllib.error.URLError:
                assert server.poll() is None
                time.sleep(0.1)
        settings = {"ENDPOINT_URL": address, "ALLOW_HTTP": "true", "ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b"}
        for name, value in {**settings, "REGION": "us-east-1"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        yield "s3://bucket-of-ours/tenant"
    finally:
        server.kill()
        server.wait()


@pytest.mark.scale
def test_a_bucket_is_loaded_and_read(bucket: str, tmp_path: Path) -> None:
    """The same rows and views as in a folder."""
    home, _, session = growing(tmp_path)
    for number in range(2):
        grow(home, session, number)
        push_and_load([home], open_store(bucket))
    assert check(open_store(bucket)).ok
    assert differences([home], bucket) == {}
    with open_archive(store=bucket) as archive:
        (run,) = archive.runs()
        assert run.turns == 2
        assert archive.run(run.run_id[:8]).info.turns == 2
        assert archive.sql("SELECT count(*) AS n FROM messages")[0]["n"] == 2
