"""Secrets in natural places: masked whatever they look like, and nothing else goes with them."""

from __future__ import annotations

import json

import pytest

from secret_places import ANY_VALUE, FOR_WORDS, VALUES, WORDS
from stenograph.redact import mask_text

PLACES = [(group, place) for group, places in ANY_VALUE.items() for place in places]


@pytest.mark.parametrize(("group", "place"), PLACES)
def test_a_secret_in_a_natural_place_is_masked(group: str, place: str) -> None:
    """Options, commands, files, code, SQL, connections, headers, sentences; masking twice is masking once."""
    for value in VALUES:
        masked = mask_text(place.format(value))
        assert value not in masked
        assert "[masked:" in masked
        assert mask_text(masked) == masked


@pytest.mark.parametrize("place", FOR_WORDS)
def test_a_place_that_leaves_no_doubt_shows_a_secret_that_is_a_word(place: str) -> None:
    """Also one that could be the name of a class."""
    for value in WORDS:
        assert value not in mask_text(place.format(value))


@pytest.mark.parametrize(("group", "place"), PLACES)
def test_a_place_inside_json_inside_json_is_masked(group: str, place: str) -> None:
    """As an agent's file has what a tool printed; the JSON still parses."""
    text = json.dumps({"said": json.dumps({"output": place.format(VALUES[1])})})
    masked = mask_text(text)
    assert VALUES[1] not in masked
    assert set(json.loads(json.loads(masked)["said"])) == {"output"}


@pytest.mark.parametrize("place", [place for _, place in PLACES if "\n" not in place])
def test_a_placeholder_in_such_a_place_stays(place: str) -> None:
    """Documents write `$PASSWORD` and `<password>` where a secret goes."""
    for placeholder in ("$DB_PASS", "${DB_PASS}", "<secret>", "********"):
        assert placeholder in mask_text(place.format(placeholder))


@pytest.mark.parametrize(
    "text",
    [
        "The password is required.",
        "The password is wrong, and the token is expired.",
        "the password is stored in the vault",
        "The password is too short; passwords must have 8 characters.",
        "Das Passwort ist falsch. Das Kennwort ist abgelaufen.",
        "le mot de passe est incorrect",
        "la contraseña es obligatoria",
        "密码不能为空",
        "パスワードを入力してください",
        "Use --password and --token together, or --api-key if you have one.",
        "  --password TEXT   the password of the database",
        "usage: tool [--token TOKEN] [--password PASSWORD] file",
        "mysql -u root -p shop",
        "docker run -p 8080:80 image && ssh -p 22 host && mkdir -p a/b && patch -p1",
        "git config --global user.name Ada && git config core.editor vim",
        "redis-cli -h cache ping; zip -r x.zip folder; openssl rsa -in key.pem",
        "<password></password><Password>${password}</Password><token>string</token>",
        "CREATE USER ada; ALTER USER ada PASSWORD EXPIRE;",
        "INSERT INTO users (name, email) VALUES ('ada', 'ada@example.org');",
        "| user | role |\n|---|---|\n| ada | admin |",
        "name,email\nada,ada@example.org\n",
        "user.set_name('ada'); user.setTitle(\"Dr\")",
        'os.environ.get("API_KEY", "")',
        "src/app.py:1234:5: error: unexpected token",
        "https://example.org/x?page=2&sort=name&signed=true",
        "echo hello | grep h",
        "password: !vault |",
        "password: !Ref Parameter",
        ": ${DB_PASSWORD:?missing}",
        'API_KEY="$1"',
        "Passwort vergessen?",
        "{ password: 'Passwort', token: 'Token' }",
        '"auth.login.password": "Mot de passe"',
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Cache restored from key: setup-node-" + "0a1b2c3d4e5f6978" * 4,
        'HEX_PAT = "[0-9A-Fa-f]{1,4}"',
        'KEY: Final = "sk-$(openssl rand -hex 32)"',
        "net user growth is strong; security import rules; AUTH LOGIN",
        "PASS src/auth/utf8_decode.test.ts",
        "Authorization: see RFC 9110, section 11.6.2",
    ],
)
def test_what_only_speaks_of_secrets_stays(text: str) -> None:
    """Sentences, help texts and commands without one."""
    assert mask_text(text) == text


def test_numbers_under_the_name_of_a_password_are_masked() -> None:
    """As a string in JSON, which still parses; counts, ports and short numbers stay."""
    text = '{"password": 12345678, "pin": 4711, "port": 5432, "max_tokens": 4096, "retries": {"pin": 7}}'
    assert json.loads(mask_text(text)) == {
        "password": "[masked:password]",
        "pin": "[masked:password]",
        "port": 5432,
        "max_tokens": 4096,
        "retries": {"pin": 7},
    }
    assert mask_text("password: 12345678\nport: 5432") == "password: [masked:password]\nport: 5432"


@pytest.mark.parametrize("place", ["The key is {}.", "password for ada: {}", "user ada, password {}", "api key -> {}"])
def test_the_padding_of_base64_is_not_an_assignment(place: str) -> None:
    """A value that ends with `=` in a sentence is masked like any other; an assignment there is not one."""
    value = "Dqz0hy99rntsXQC7EzruIsgYa2XjZZTxddwWK2uc="
    if "The key" not in place:
        assert value not in mask_text(place.format(value))
    assert mask_text(place.format("timeout=")) == place.format("timeout=")


def test_lines_of_json_are_read_as_json() -> None:
    """A tool that prints a log of JSON lines, in which a table of a database stands escaped."""
    table = " user | password \n------+----------\n ada  | hunter2x9\n"
    text = "\n".join(json.dumps({"number": number, "output": table}) for number in range(3))
    masked = mask_text("log:\n" + text)
    assert "hunter2x9" not in masked
    assert [json.loads(line)["number"] for line in masked.splitlines()[1:]] == [0, 1, 2]
