"""`rclone serve s3` ignores conditional writes without a word: it must be refused."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fleet_cases import grown
from stenograph.archive.store.home import home_of
from stenograph.errors import StoreError
from stenograph.fleet.store.objects import open_store
from stenograph.fleet.store.push import push
from unit.fleet.conftest import use_s3

PATIENCE = 60.0


@pytest.fixture
def rclone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a bucket on such a server."""
    (tmp_path / "served" / "bucket").mkdir(parents=True)
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    program = Path(sys.executable).parent / "rclone"
    command = [program, "serve", "s3", tmp_path / "served", "--addr", address, "--auth-key", "somebody,something"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_for(f"http://{address}/")
            use_s3(monkeypatch, f"http://{address}")
            yield "s3://bucket/tenant"
        finally:
            server.terminate()


def _wait_for(address: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(address, timeout=PATIENCE).close()
        except urllib.error.HTTPError as error:  # it answers
            error.close()
            return
        except OSError:
            time.sleep(0.05)
        else:
            return


@pytest.mark.scale
def test_rclone_is_refused(tmp_path: Path, rclone: str) -> None:
    """In one line, before a byte of the archive is sent, and every time."""
    archive, store = grown(tmp_path), open_store(rclone)
    for _ in range(2):
        with pytest.raises(StoreError, match="use a store with conditional writes"):
            push(home_of(archive), store)
    assert [entry.key.rpartition("/")[2] for entry in store.entries("v1/")] == ["archive.json"]
