"""A lake in a bucket, on an S3 server in a process of its own."""

from __future__ import annotations

import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakes import differences, grow, growing, push_and_load
from started_server import started_server
from stenograph import open_archive
from stenograph.fleet.lake.check import check
from stenograph.fleet.store.objects import open_store
from unit.fleet.conftest import use_s3


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a bucket. A server in this process would wait for itself while DuckDB reads through Arrow."""
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with started_server(command, tmp_path / "log") as address:
        request = urllib.request.Request(f"{address}/bucket-of-ours", method="PUT")
        urllib.request.urlopen(request, timeout=240).close()
        use_s3(monkeypatch, address)
        yield "s3://bucket-of-ours/tenant"


@pytest.mark.scale
@pytest.mark.timeout(900)
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
