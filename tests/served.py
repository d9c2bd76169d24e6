"""What tests of the page share: an archive to serve, and a client that sends exactly what it is told."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from archive_cases import claude_line, codex_line, session_path, synced, thread_path, written
from stenograph.archive.store.home import home_of
from stenograph.runs.mask import RunMask
from stenograph.server.access import Access
from stenograph.server.app import application
from stenograph.server.feed import Feed
from stenograph.server.site import Site
from stenograph.server.store_runs import StoreRuns

PORT = 8421
KEY = b"k" * 32
KINDS = ("user", "assistant", "call", "result")
"""A turn, over and over: one line in four is a prompt."""


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text, unpacked."""
        is_packed = self.headers.get("content-encoding") == "gzip"
        return (gzip.decompress(self.body) if is_packed else self.body).decode()

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.text)


class Client:
    """Asks an application without a net in between; with the cookie of a browser, unless told otherwise."""

    def __init__(
        self,
        home: Path,
        *,
        redact: bool = False,
        hosts: Iterable[str] = (),
        bundle: Path | None = None,
        store: StoreRuns | None = None,
    ) -> None:
        self.access = Access(KEY)
        self.site = Site(home_of(home), RunMask() if redact else None, bundle=bundle, store=store)
        self.feed = Feed(self.site.home)
        self.app = application(self.site, self.access, PORT, hosts, self.feed)

    def get(
        self, target: str, *, cookie: bool = True, method: str = "GET", body: bytes = b"", **headers: str
    ) -> Answer:
        """The answer; `headers` by their names with `_` for `-`."""
        path, _, query = target.partition("?")
        given = {"host": f"localhost:{PORT}", **{name.replace("_", "-"): value for name, value in headers.items()}}
        if cookie:
            given["cookie"] = f"steno-{PORT}={self.access.cookie}"
        pairs = [(name.encode(), value.encode()) for name, value in given.items() if value]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": pairs,
            "server": ("127.0.0.1", PORT),
            "client": ("127.0.0.1", 1),
        }
        return asyncio.run(_exchange(self.app, scope, body))


async def _exchange(app: Any, scope: dict[str, Any], body: bytes) -> Answer:
    sent: list[dict[str, Any]] = []

    asked = False

    async def receive() -> dict[str, Any]:
        nonlocal asked
        if asked:
            await asyncio.Event().wait()  # a browser that stays
        asked = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start = next(each for each in sent if each["type"] == "http.response.start")
    headers = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], headers, b"".join(each.get("body", b"") for each in sent))


def archive_of(tmp_path: Path, lines: int = 8) -> Path:
    """An archive with a Claude session of so many lines, and a Codex thread."""
    home = tmp_path / "home"
    written(session_path(home), *(claude_line(number, KINDS[number % 4]) for number in range(lines)))
    written(thread_path(home), *(codex_line(number) for number in range(3)))
    home_of(tmp_path / "archive").make()
    synced(home, tmp_path / "archive")
    return tmp_path / "archive"
