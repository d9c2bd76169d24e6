"""Checks every request before a page: the host, the token, what a browser may do with the answer, and the access log.

The order matters. The `Host` is first, because a page of another site that got our address by DNS rebinding sends its
own name there; nothing is served before that, not even a static file. Then the token is checked, then the request.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stenograph.server.access import Access

log = logging.getLogger("stenograph.server.access")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types stenograph"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_DOWNLOAD_HEADERS = tuple(
    (name, value + b"; sandbox" if value == POLICY.encode() else value) for name, value in HEADERS
)
"""Headers of downloads, which a browser must not show as a page of ours."""
LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})
_A_YEAR = 31_536_000
_LONGEST_BODY = 1 << 16
_FORM = "application/x-www-form-urlencoded"
_NOT_OURS = "This address is not served here. Name it with steno serve --allow-host NAME, if it is yours.\n"
_NO_TOKEN = "Open the address that steno serve printed: it has the token that lets you in.\n"
_NOT_OUR_PAGE = "Only our own page may change anything.\n"


class Guard:
    """Answers only for known hosts and with the token, and adds headers to every answer."""

    def __init__(self, app: ASGIApp, access: Access, port: int, hosts: Iterable[str] = ()) -> None:
        """`hosts`: further names by which the page may be reached."""
        self._app = app
        self._access = access
        self._cookie = f"steno-{port}"  # cookies do not distinguish ports
        self._hosts = LOCAL | {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        await _Exchange(self, scope, receive, send).answer()

    def knows_host(self, host: str) -> bool:
        """Whether a `Host` header names us, with any port."""
        name, _, port = host.rpartition(":") if not host.endswith("]") and ":" in host else (host, "", "")
        return name.lower() in self._hosts and (not port or port.isdigit())

    def knows(self, headers: dict[str, list[str]]) -> bool:
        """Whether the request has our cookie or the token."""
        return self.has_cookie(headers) or self.has_bearer(headers)

    def has_cookie(self, headers: dict[str, list[str]]) -> bool:
        """Whether the request has our cookie."""
        for header in headers.get("cookie", ()):
            try:
                morsel = SimpleCookie(header).get(self._cookie)
            except CookieError:
                continue
            if morsel is not None and self._access.accepts_cookie(morsel.value):
                return True
        return False

    def has_bearer(self, headers: dict[str, list[str]]) -> bool:
        """Whether the request has the token, as programs send it."""
        for header in headers.get("authorization", ()):
            scheme, _, token = header.partition(" ")
            if scheme.lower() == "bearer" and self._access.accepts_bearer(token.strip()):
                return True
        return False

    def cookie(self) -> str:
        """The header that lets the browser in from now on."""
        return f"{self._cookie}={self._access.cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age={_A_YEAR}"

    def accepts_token(self, token: str) -> bool:
        """Whether a token of an address is right."""
        return self._access.accepts_token(token)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the page answer."""
        await self._app(scope, receive, send)


class _Exchange:
    """One request and its answer."""

    def __init__(self, guard: Guard, scope: Scope, receive: Receive, send: Send) -> None:
        self._guard = guard
        self._scope = scope
        self._receive = receive
        self._send = send
        self._begun = time.monotonic()
        self._status = 0
        self._headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            self._headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))

    async def answer(self) -> None:
        try:
            await self._answer()
        finally:
            took = (time.monotonic() - self._begun) * 1000
            method, path = self._scope["method"], self._scope["path"]
            log.info("%s %s %s %.0f ms", method, ascii(path)[1:-1], self._status, took)  # no query: it may be private

    async def _answer(self) -> None:
        hosts = self._headers.get("host", [])
        if len(hosts) != 1 or not self._guard.knows_host(hosts[0]):
            await self._refuse(403, _NOT_OURS)
            return
        query = parse_qsl(self._scope["query_string"].decode("latin-1"), keep_blank_values=True)
        token = next((value for name, value in query if name == "token"), None)
        method = self._scope["method"]
        if token is not None and method == "GET":
            await self._exchange_token(token, [(name, value) for name, value in query if name != "token"])
        elif not self._guard.knows(self._headers):
            await self._refuse(401, _NO_TOKEN)
        elif method == "POST" and not self._is_from_our_page(hosts[0]):
            await self._refuse(403, _NOT_OUR_PAGE)
        elif method not in ("GET", "HEAD", "POST"):
            await self._refuse(405, "Only GET, HEAD and POST are answered.\n")
        else:
            await self._guard.handle(self._scope, self._receive, self._with_headers)

    async def _exchange_token(self, token: str, rest: list[tuple[str, str]]) -> None:
        if not self._guard.accepts_token(token):
            await self._refuse(401, _NO_TOKEN)
            return
        path = self._scope["raw_path"].decode("latin-1").partition("?")[0]
        path = "/" + path.lstrip("/\\")  # a second slash would name another host
        place = f"{path}?{urlencode(rest)}" if rest else path
        headers = [(b"location", place.encode("latin-1")), (b"set-cookie", self._guard.cookie().encode())]
        await self._refuse(303, "", headers)

    def _is_from_our_page(self, host: str) -> bool:
        """A change needs the cookie, JSON or our form, and a browser header that says our own page sent it."""
        wanted = "application/json" if self._scope["path"].startswith("/api/") else _FORM
        kind = self._headers.get("content-type", [""])[0].partition(";")[0].strip().lower()
        site, origin = self._headers.get("sec-fetch-site"), self._headers.get("origin", [""])
        is_ours = site == ["same-origin"] if site else origin == [f"http://{host}"]
        length = self._headers.get("content-length", ["0"])[0]
        is_small = length.isdigit() and int(length) <= _LONGEST_BODY
        return self._guard.has_cookie(self._headers) and kind == wanted and is_ours and is_small

    async def _refuse(self, status: int, text: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        body = text.encode()
        more = [*headers, (b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
        await self._with_headers({"type": "http.response.start", "status": status, "headers": more})
        await self._with_headers({"type": "http.response.body", "body": body})

    async def _with_headers(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            own = {name for name, _ in HEADERS}
            others = [pair for pair in message["headers"] if pair[0].lower() not in own]
            is_download = any(name.lower() == b"content-disposition" for name, _ in others)
            message = {**message, "headers": [*others, *(_DOWNLOAD_HEADERS if is_download else HEADERS)]}
        await self._send(message)
