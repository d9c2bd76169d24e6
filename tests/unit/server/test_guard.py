"""Whom the page answers, and what a browser may do with the answer."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from archive_cases import SESSION
from served import PORT, Client, archive_of
from stenograph.server.access import FILE, Access, key_of
from stenograph.server.app import DOCUMENTS, PAGES, STATIC

FOREIGN = (
    "evil.example",
    "evil.example:8421",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "localhost:x",
    "",
    "[::2]",
)
PLACES = ("/", "/static/style.css", "/api/v1/health", "/api/v1/stream?runs=list", f"/runs/{SESSION}", "/nowhere")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return Client(archive_of(tmp_path_factory.mktemp("guard")), hosts=("steno.local",))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host_gets_nothing(client: Client, host: str, place: str) -> None:
    """Not even a static file or a stream, although it has the cookie and the token: that is how rebinding looks."""
    answer = client.get(place, host=host)
    assert answer.status == 403
    assert b"<" not in answer.body
    assert client.get(f"{place.partition('?')[0]}?token={client.access.token}", host=host).status == 403


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8421", "[::1]", "[::1]:9", "steno.local:8421"])
def test_known_hosts_are_answered(client: Client, host: str) -> None:
    """With any port, and those that were allowed."""
    assert client.get("/", host=host).status == 200


@pytest.mark.parametrize("place", PLACES)
def test_without_a_token_nobody_is_let_in(client: Client, place: str) -> None:
    """Other users of the machine reach the port, too."""
    assert client.get(place, cookie=False).status == 401
    assert client.get(place, cookie=False, cookie_="x").status == 401
    assert client.get(place, cookie=False, authorization="Bearer nonsense").status == 401


def test_the_token_becomes_a_cookie(client: Client) -> None:
    """The address is clean afterwards, and the cookie is for this port and this site alone."""
    answer = client.get(f"/runs/{SESSION}?unit=1&token={client.access.token}&density=all", cookie=False)
    assert answer.status == 303
    assert answer.headers["location"] == f"/runs/{SESSION}?unit=1&density=all"
    name, _, rest = answer.headers["set-cookie"].partition("=")
    assert name == f"steno-{PORT}"
    assert rest.startswith(client.access.cookie)
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in rest.split(";")}
    assert client.access.token not in answer.headers["set-cookie"]


def test_a_wrong_token_is_refused_also_with_a_cookie(client: Client) -> None:
    """Nothing is guessed."""
    assert client.get("/?token=wrong").status == 401
    assert client.get("/?token=wrong", cookie=False).status == 401
    assert client.get("/?token=", cookie=False).status == 401


def test_a_token_for_one_use_is_good_once(client: Client) -> None:
    """The browser that we open gets one: its arguments can be seen by others."""
    token = client.access.token_for_one_use()
    assert client.get(f"/?token={token}", cookie=False).status == 303
    assert client.get(f"/?token={token}", cookie=False).status == 401


def test_a_redirect_stays_here(client: Client) -> None:
    """A path of two slashes would name another host."""
    answer = client.get(f"//evil.example/?token={client.access.token}", cookie=False)
    assert answer.headers["location"] == "/evil.example/"


def test_programs_send_the_token(client: Client) -> None:
    """As `Authorization: Bearer`."""
    assert client.get("/api/v1/runs", cookie=False, authorization=f"Bearer {client.access.token}").status == 200


@pytest.mark.parametrize("place", [*PLACES[:3], f"/runs/{SESSION}", "/nowhere", "/?token=no"])
@pytest.mark.parametrize("cookie", [True, False])
def test_every_answer_has_the_headers(client: Client, place: str, cookie: bool) -> None:
    """Pages, files, refusals alike; and no other site may read any."""
    headers = client.get(place, cookie=cookie).headers
    policy = headers["content-security-policy"]
    for rule in (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types stenograph",
    ):
        assert rule in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert not [name for name in headers if name.startswith("access-control")]


JSON = {"content_type": "application/json"}


@pytest.mark.parametrize(
    ("headers", "cookie"),
    [
        ({**JSON}, True),
        ({**JSON, "origin": "http://evil.example"}, True),
        ({**JSON, "origin": "null"}, True),
        ({**JSON, "origin": f"http://localhost:{PORT}", "sec_fetch_site": "cross-site"}, True),
        ({**JSON, "origin": f"http://localhost:{PORT + 1}"}, True),
        ({"content_type": "text/plain", "sec_fetch_site": "same-origin"}, True),
        ({"content_type": "application/x-www-form-urlencoded", "sec_fetch_site": "same-origin"}, True),
        ({**JSON, "sec_fetch_site": "same-origin", "content_length": "99999999"}, True),
    ],
)
def test_only_our_own_page_may_post(client: Client, headers: dict[str, str], cookie: bool) -> None:
    """The cookie alone is not enough, and nothing but JSON is taken."""
    assert client.get("/api/v1/marks", method="POST", body=b"{}", cookie=cookie, **headers).status == 403


def test_a_token_does_not_post(client: Client) -> None:
    """A program with the token reads; what changes anything needs the cookie."""
    bearer = f"Bearer {client.access.token}"
    answer = client.get(
        "/api/v1/marks", method="POST", cookie=False, authorization=bearer, sec_fetch_site="same-origin", **JSON
    )
    assert answer.status == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(client: Client, method: str) -> None:
    """There is nothing to delete."""
    assert client.get("/", method=method).status == 405


@pytest.mark.parametrize(
    "place",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/app.py",
        "/static/",
        "/runs/..%2f..%2fetc%2fpasswd",
        "/runs/../../etc/passwd",
        "/runs//etc/passwd",
        "/runs/@",
        "/runs/last",
        "/runs/%00",
        f"/runs/{SESSION}/raw/999999999999999999999999",
        f"/runs/{SESSION}/at/0",
    ],
)
def test_no_path_of_a_url_is_a_file(client: Client, place: str) -> None:
    """Runs are found by their ids, files by a fixed list of names."""
    from urllib.parse import unquote

    assert client.get(unquote(place)).status == 404


def test_the_access_log_has_no_query(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """What somebody looks for is private, and so is a token."""
    caplog.set_level(logging.INFO, "stenograph.server.access")
    client.get("/search?q=my+private+words")
    client.get(f"/?token={client.access.token}", cookie=False)
    assert "GET /search 200" in caplog.text
    assert "private" not in caplog.text
    assert client.access.token not in caplog.text


def test_the_key_is_kept_for_its_owner(tmp_path: Path) -> None:
    """The cookie outlives the server; a key that others could read is made anew."""
    key = key_of(tmp_path)
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    assert key_of(tmp_path) == key
    assert Access(key).cookie == Access(key).cookie != Access(key).token
    (tmp_path / FILE).chmod(0o644)
    assert key_of(tmp_path) != key


def test_every_page_is_behind_the_guard(client: Client) -> None:
    """None is forgotten: each route of the table refuses a foreign host and a stranger."""
    for path in [*PAGES, *DOCUMENTS, *(f"/static/{name}" for name in STATIC)]:
        place = path.replace("{run_id}", SESSION).replace("{seq:int}", "1").replace("{kind}", "md")
        assert client.get(place, host="evil.example").status == 403
        assert client.get(place, cookie=False).status == 401
