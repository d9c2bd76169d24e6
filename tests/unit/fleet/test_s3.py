"""The same in S3: a server with conditional writes, one that is overloaded, and buckets that are not there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fleet_cases import grown, indexed_events, kept_files, newest, stored_events, stored_files
from stenograph.archive.store.home import home_of
from stenograph.errors import SourceError, StoreError
from stenograph.fleet.store.objects import open_store
from stenograph.fleet.store.push import push


def test_an_archive_is_in_a_bucket_as_in_a_folder(tmp_path: Path, bucket: str) -> None:
    """Bytes and events, in two pushes; then nothing is behind."""
    store = open_store(bucket)
    for first in (1, 100):
        archive = grown(tmp_path, first=first)
        pushed = push(home_of(archive), store)
    assert stored_files(store, pushed.archive, "bytes") == kept_files(archive)
    assert newest(stored_events(store, pushed.archive)) == indexed_events(archive)
    assert push(home_of(archive), store).objects == 0


def test_one_of_many_creates_an_object(tmp_path: Path, bucket: str) -> None:
    """However many try at the same time, in a bucket and in a folder."""
    for url in (bucket, f"file://{tmp_path / 'store'}"):
        store = open_store(url)
        with ThreadPoolExecutor(8) as threads:
            made = list(threads.map(lambda number, store=store: store.create("v1/x", b"%d" % number), range(8)))
        assert made.count(True) == 1
        assert store.get("v1/x") == b"%d" % made.index(True)


def test_a_bucket_that_is_not_there_is_one_line(bucket: str) -> None:
    """For those who read and those who write."""
    store = open_store(bucket.replace("bucket", "nothing"))
    with pytest.raises(StoreError, match="cannot write v1/a to s3://nothing") as refused:
        store.create("v1/a", b"")
    assert "\n" not in str(refused.value)
    with pytest.raises(SourceError, match="cannot read v1/ of s3://nothing"):
        store.entries("v1/")


class Overloaded(BaseHTTPRequestHandler):
    """Answers some requests by what is left to answer first, then takes what it is given."""

    protocol_version = "HTTP/1.1"
    answers: list[int] = []  # noqa: RUF012  # one server, one test
    taken: list[bytes] = []  # noqa: RUF012

    def do_PUT(self) -> None:
        """Refuse, or take."""
        data = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.answers.pop(0) if self.answers else 200
        if status == 200:
            self.taken.append(data)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.send_header("ETag", '"x"')
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def overloaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Overloaded]]:
    """A server that `s3://` is on."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Overloaded)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": "something",
    }.items():
        monkeypatch.setenv(name, value)
    yield Overloaded
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_overloaded_store_is_waited_for(overloaded: type[Overloaded]) -> None:
    """429 and 503 are not failures: the object is created in the end, once."""
    overloaded.answers[:] = [503, 429]
    assert open_store("s3://bucket").create("v1/a", b"data")
    assert overloaded.taken == [b"data"]
