"""`rclone serve s3` ignores conditional writes without a word: it must be refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_cases import grown
from started_server import started_server
from stenograph.archive.store.home import home_of
from stenograph.errors import StoreError
from stenograph.fleet.store.objects import open_store
from stenograph.fleet.store.push import push
from unit.fleet.conftest import use_s3


@pytest.fixture
def rclone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a bucket on such a server."""
    (tmp_path / "served" / "bucket").mkdir(parents=True)
    program = Path(sys.executable).parent / "rclone"
    command = [program, "serve", "s3", tmp_path / "served", "--addr", "127.0.0.1:0", "--auth-key", "somebody,something"]
    with started_server(command, tmp_path / "log") as address:
        use_s3(monkeypatch, address)
        yield "s3://bucket/tenant"


@pytest.mark.scale
def test_rclone_is_refused(tmp_path: Path, rclone: str) -> None:
    """In one line, before a byte of the archive is sent, and every time."""
    archive, store = grown(tmp_path), open_store(rclone)
    for _ in range(2):
        with pytest.raises(StoreError, match="use a store with conditional writes"):
            push(home_of(archive), store)
    assert [entry.key.rpartition("/")[2] for entry in store.entries("v1/")] == ["archive.json"]
