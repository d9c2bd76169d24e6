"""Masking secrets: what is found, what is left alone, and what of an event may change."""

from __future__ import annotations

import base64
import html
import json
import re
from time import process_time
from typing import Any
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from msgspec.structs import replace

from stenograph.model import (
    AttachmentBlock,
    CommandBlock,
    ErrorPayload,
    Event,
    LifecyclePayload,
    MessagePayload,
    Origin,
    StreamBlock,
    SystemPayload,
    TextBlock,
    ThinkingBlock,
    ToolPayload,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    UnknownPayload,
    UsagePayload,
    decode,
    encode,
)
from stenograph.model.value import Extra
from stenograph.redact import default_masker, mask_text, sharing_mask
from stenograph.redact.judge import entropy
from stenograph.redact.span import Span, merge

# Every secret here is made up and put together on the spot, so that no scanner takes it for a real one.
ANTHROPIC = "sk-" + "ant-api03-" + "aB3dE6" * 6
ANTHROPIC_MARK = "[masked:anthropic-key]"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
BEGIN = "-----BEGIN " + "RSA PRIVATE KEY-----"
END = "-----END " + "RSA PRIVATE KEY-----"
PEM = f"{BEGIN}\n{BODY}\n{BODY}\nQ0c=\n{END}"


def mask(event: Event) -> Event:
    """The event as a mask gives it that has seen no other."""
    return default_masker()(event)


def an_event(payload: Any = None, *, type: str = "unknown", **more: Any) -> Event:
    return Event(seq=1, run_id="r", type=type, path="", iteration=0, timestamp="t", payload=payload, **more)


TOKENS = [
    ("anthropic-key", ANTHROPIC),
    ("openrouter-key", "sk-" + "or-v1-" + "0a1b2c3d" * 8),
    ("openai-key", "sk-" + "aB3dE6gH" * 6),
    ("openai-key", "sk-" + "proj-" + "aB3_dE6-" * 6),
    ("aws-access-key", "AKIA" + "ABCDEFGH23456789"),
    ("aws-access-key", "ASIA" + "ABCDEFGH23456789"),
    ("google-key", "AIza" + "Sy0123456789abcdefghijABCDEFGHIJ-_x1y"),
    ("google-client-secret", "GOCSPX-" + "aB3dE6gH" * 3),
    *(("github-token", f"gh{letter}_" + "aB3dE6" * 6) for letter in "pousr"),
    ("github-token", "github_pat_" + "11ABCDEFG0_" + "aB3dE6" * 6),
    ("gitlab-token", "glpat-" + "aB3dE6gH_-" * 2),
    *(("slack-token", f"xox{letter}-" + "1234567890-abcdefgh") for letter in "abprs"),
    ("stripe-key", "sk_" + "live_" + "aB3dE6gH" * 3),
    ("stripe-key", "rk_" + "live_" + "aB3dE6gH" * 3),
    ("stripe-key", "sk_" + "test_" + "aB3dE6gH" * 3),
    ("npm-token", "npm_" + "aB3dE6" * 6),
    ("pypi-token", "pypi-" + "AgEIcHlwaS5vcmc" + "aB3dE6-_" * 5),
    ("huggingface-token", "hf_" + "aBcDeFgHiJ" * 3 + "kLmN"),
    ("sendgrid-key", "SG." + "aB3dE6gHiJ0kL1mN2oP3qR" + "." + "aB3dE6gH" * 5 + "xyz"),
    ("twilio-key", "SK" + "0a1b2c3d" * 4),
    *(("digitalocean-token", f"do{letter}_v1_" + "0a1b2c3d" * 8) for letter in "por"),
    ("jwt", "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0In0" + ".c2ln_bmF0-dXJl"),
    ("private-key", PEM),
]


@pytest.mark.parametrize(("kind", "secret"), TOKENS, ids=[f"{kind}-{secret[:6]}" for kind, secret in TOKENS])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("Use ", " now."),
        ("'", "'"),
        ('{"x":"', '"}'),
        ("\x1b[31m", "\x1b[0m"),
        ("line\\n", "\\nline"),
        ("(", ")"),
    ],
)
def test_an_issued_token_is_masked_and_nothing_else(kind: str, secret: str, before: str, after: str) -> None:
    """A token that shows its issuer becomes a mark of that kind, whatever stands around it."""
    assert mask_text(before + secret + after) == f"{before}[masked:{kind}]{after}"


def test_the_path_of_a_slack_webhook_is_masked() -> None:
    """The host stays readable, the path, which is the secret, does not."""
    url = "https://hooks.slack.com/services/" + "T00000000/B00000000/" + "aB3dE6gH" * 3
    assert mask_text(f"POST {url} ok") == "POST https://hooks.slack.com/services/[masked:slack-webhook] ok"


@pytest.mark.parametrize(
    "line",
    [
        "AWS_SECRET_ACCESS_KEY=«aws-secret-key:wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzKEYzz»",
        "aws_secret_access_key = «aws-secret-key:wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzKEYzz»",
        "AccountName=a;AccountKey=«azure-key:aB3dE6gHiJ0kL1mN2oP3qRaB3dE6gHiJ0kL1mN2oP3qR==»;EndpointSuffix=core.net",
        "PASSWORD=«password:hunter2»",
        "PASSWORD=«password:letmein»",
        "PASSWORD=«password:12345678»",
        "DB_PASS=«password:hunter2» ./run",
        "PGPASSWORD=«password:hunter2» psql",
        'export DB_PASSWORD="«password:hunter two»"',
        "export DB_PASSWORD='«password:hunter two»'",
        '  "apiKey": "«api-key:zzz»",',
        '{\\"password\\": \\"«password:a b»\\", \\"n\\": 1} and more',
        '{\\"password\\": \\"«password:a\\\\\\"b»\\", \\"n\\": 1} and more',
        "secret: «secret:hunter»",
        "db:\n  password: «password:letmein»\n  port: 1",
        "POSTGRES_PASSWORD: «password:postgres»",
        "password: «password:hunter2» # old",
        'password = "«password:correct horse»"',
        "'client_secret' => '«secret:abc»',",
        'os.environ["API_KEY"] = "«api-key:abc-def»"',
        "https://x.io/cb?access_token=«token:abcdef»&state=1",
        "mysql --password=«password:letmein» db",
        "deploy --api-key «api-key:zz19-yy20» now",
        'token: "«token:abcd1234»"',
        "GITHUB_TOKEN_RO=«token:abcdef»",
        "API_KEY=«api-key:Zm9vYmFykey=»",
        "API_KEY=«api-key:Zm9vYmFykey==»\nX=1",
        "PASSWORD=«password:mytoken:12»",
        'device_key="«high-entropy:9f86d081884c7d659a2feaa0c55ad015»"',
        "x_auth: «high-entropy:Zm9vYmFyYmF6cXV4MTIz9xK0aB»",
        "Authorization: Bearer «authorization:abc.def-123»",
        "authorization: Basic «authorization:dXNlcjpwYXNz»",
        'curl -H "Authorization: token «authorization:a1b2c3d4»" https://x.io',
        '{"Authorization": "Bearer «authorization:a1b2c3d4»"} trailing',
        "used Bearer «authorization:a1b2c3d4e5f6g7h8i9» there",
        "curl -H 'X-Api-Key: «api-key:abcdef»' https://x.io",
        "x-auth-token: «token:abcdef»",
        "Cookie: sid=«cookie:abc»; theme=«cookie:dark»",
        "Set-Cookie: sid=«cookie:abc»; Path=/; Max-Age=60; HttpOnly",
        "postgres://user:«password:hunter2»@localhost:5432/db",
        "redis://:«password:pw»@cache",
        "see https://ci:«password:a:b»@git.x.io/r.git, please",
        "\\nTOKEN=«token:abcdef»\\nNEXT=1",
        "curl -u ci:«password:hunter2» https://x.io",
        "curl -s -X POST \\\n  --user 'ci:«password:a:b(c»' https://x.io && echo done",
        '/usr/bin/curl --proxy-user=\\"ci:«password:hunter2»\\" https://x.io',
        "curl https://x.io -uci:«password:hunter2»",
    ],
)
def test_what_is_assigned_to_the_name_of_a_secret_is_masked(line: str) -> None:
    """In shells, configuration, code, headers and addresses, also escaped; names, quotes and schemes stay."""
    text = re.sub("«[a-z-]+:(.*?)»", r"\1", line)
    masked = re.sub("«([a-z-]+):.*?»", r"[masked:\1]", line)
    assert mask_text(text) == masked
    assert mask_text(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "The key is in the drawer, and the token: it is the smallest unit of text.",
        "Passwords must be long. Password: 8 characters minimum.",
        "Authorization: the process of deciding who may do what. Authentication: who they are.",
        "It uses Bearer authentication with JWT tokens.",
        "token.usage follows the record's calls",
        "def authenticate(token):\n    return token",
        "input_tokens: 1200, max_tokens=4096, total_token_usage: 17",
        '{"usage":{"input_tokens":1200,"output_tokens":55}}',
        "password = getpass()",
        "password: str = Field(...)\ntoken: Optional[str] = None\nsecret: string;",
        "function login(user: string, password: string): Promise<Token> {",
        'os.environ["API_KEY"]',
        'api_key=os.getenv("X")',
        "client = Client(api_key=api_key, token=self.token, secret=config.secret)",
        "const { token, secret } = props; const apiKey = process.env.API_KEY;",
        'if token == "identifier1" or auth != "basic-auth-2":',
        'if request["token"]: return deny',
        'name = input("Password: ") or input("User: ")',
        'print("token:", token, "secret:", secret)',
        "api_key=${TOKEN} password=$PASSWORD secret=$(cat /run/secret) token=%TOKEN%",
        "key: <your-key>, api_key=YOUR_API_KEY, token: your-token-here",
        '"password": "****", "secret": "xxxxxxxx", "apiKey": "..."',
        "sk-..., sk-xxxxxxxxxxxxxxxxxxxxxxxx, ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        'headers = {"Authorization": f"Bearer {token}"}',
        "headers: { 'Authorization': 'Bearer ' + token, Authorization: `Bearer ${token}` }",
        "Authorization: Bearer <token>",
        "class=sk-fading-circle-container-large task-1234567890123456789012 risk-averse",
        "PWD=/home/user/project OLDPWD=/tmp",
        "author: Jane Doe 1999x\nauthors = people",
        "sorted(rows, key=lambda row: row.name); foreign_key='users.id'; primary_key=True",
        "key: src/components/Button2/index.tsx",
        "commit 9f86d081884c7d659a2feaa0c55ad0159f86d081",
        "id: 550e8400-e29b-41d4-a716-446655440000",
        "prompt_cache_key: 550e8400-e29b-41d4-a716-446655440000",
        "secretName: my-secret, token_type: bearer, credentials: include, secrets: inherit",
        "permissions:\n  id-token: write\n  contents: read",
        "git clone git@github.com:foo/bar.git && curl https://x.io:8080/@foo/bar?u=a@b.c",
        "postgres://user:${DB_PASSWORD}@host/db and https://$USER:$TOKEN@host",
        f"A PEM file begins with {BEGIN} and a newline.",
        f'if "{BEGIN}" in text or "{END}" in text: ["{BEGIN}", "password"]',
        '"cookie": "^0.4.1", "registry-auth-token": "4.0.0"',
        '{"error_password": "Your password is required.", "password": "Please enter a password"} x',
        "TOKEN: Final = object()\nclass TokenKind(Enum): KEY = auto()",
        "docker run --token-limit 5 --keyword vercel --password-file /run/pw",
        "pass: 12, fail: 3, keyboard: qwerty123",
        "curl -u ci https://x.io; curl -u ci: https://x.io; curl -u $USER:$TOKEN https://x.io",
        "curl https://x.io | docker run -u 1000:1000 image; chown -u a:b curl; use-curl -u a:bc",
        "[masked:password] and [masked:openai-key]: done",
    ],
)
def test_ordinary_code_and_prose_stay_untouched(text: str) -> None:
    """Words about secrets, types, expressions and placeholders are no secrets."""
    assert mask_text(text) == text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"a\n{PEM}\nb", "a\n[masked:private-key]\nb"),
        (PEM.replace("\n", "\\n") + "\\n", "[masked:private-key]\\n"),
        (PEM.replace("\n", "\\\\n") + '\\\\n\\"', '[masked:private-key]\\\\n\\"'),
        (PEM.replace("\n", "\r\n"), "[masked:private-key]"),
        (PEM.replace("\n", " "), "[masked:private-key]"),
        (PEM.replace("\n", "\n    "), "[masked:private-key]"),
        (PEM.replace("\n", "\n+"), "[masked:private-key]"),
        (f"-{PEM}".replace("\n", "\n-"), "-[masked:private-key]"),
        (f"     1\u2192{BEGIN}\n     2\u2192{BODY}\n     3\u2192{END}", "     1\u2192[masked:private-key]"),
        (f"{BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n{BODY}\n{END}", "[masked:private-key]"),
        (f"{BEGIN}\n{BODY}\nMIIEv", "[masked:private-key]"),
        (f'"{BEGIN}\\n{BODY}\\nMII", "next"', '"[masked:private-key]", "next"'),
        (f"'{BEGIN}\\n{BODY}'\nnext line", "'[masked:private-key]'\nnext line"),
        (
            f'"{BEGIN}\\n" +\n"{BODY}\\n" +\n"{END}"',
            f'"{BEGIN}\\n" +\n"[masked:private-key]\\n" +\n"[masked:private-key]"',
        ),
        (f"{PEM}\n{PEM}", "[masked:private-key]\n[masked:private-key]"),
        (PEM.replace("RSA ", "OPENSSH "), "[masked:private-key]"),
        (PEM.replace("KEY-----", "KEY BLOCK-----").replace("RSA ", "PGP "), "[masked:private-key]"),
    ],
)
def test_a_private_key_is_masked_as_a_block(text: str, masked: str) -> None:
    """Escaped, indented, numbered, quoted, cut off or spread over string literals, no line of the key is left."""
    assert mask_text(text) == masked


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"password": "hunter"}, {"password": "[masked:password]"}),
        ({"api_key": "plain words here"}, {"api_key": "[masked:api-key]"}),
        ({"client_secret": "x"}, {"client_secret": "[masked:secret]"}),
        ({"accessToken": "abc"}, {"accessToken": "[masked:token]"}),
        ({"token": "abc123"}, {"token": "[masked:token]"}),
        ({"Authorization": "Bearer abc"}, {"Authorization": "Bearer [masked:authorization]"}),
        ({"Authorization": "abc"}, {"Authorization": "[masked:authorization]"}),
        ({"X-Api-Key": ["a", "b"]}, {"X-Api-Key": ["[masked:api-key]", "[masked:api-key]"]}),
        ({"Cookie": "sid=abc; x=1"}, {"Cookie": "sid=[masked:cookie]; x=[masked:cookie]"}),
        ({"api_key": ANTHROPIC}, {"api_key": ANTHROPIC_MARK}),
        ({"password": "two\nlines"}, {"password": "[masked:password]\n[masked:password]"}),
        ({"private_key": PEM}, {"private_key": "[masked:private-key]"}),
        ({"a": [{"b": [ANTHROPIC]}]}, {"a": [{"b": [ANTHROPIC_MARK]}]}),
        ({"env": {"DB_PASSWORD": 'a"b\\c'}}, {"env": {"DB_PASSWORD": "[masked:password]"}}),
        ({"arguments": '{"password": "a \\"b\\" c"}'}, {"arguments": '{"password": "[masked:password]"}'}),
        ({"session_key": "9f86d081884c7d659a2feaa0c55ad015"}, {"session_key": "[masked:high-entropy]"}),
    ],
)
def test_a_value_under_the_name_of_a_secret_is_masked(before: Any, after: Any) -> None:
    """In payload and source line alike, even when the value looks like nothing special."""
    masked = mask(an_event(UnknownPayload(value=before), raw=json.dumps(before)))
    assert masked.payload.value == after
    assert json.loads(masked.raw or "") == after


@pytest.mark.parametrize(
    "value",
    [
        {"input_tokens": 12, "max_tokens": "4096", "tokens": ["a", "b"], "token_count": "17"},
        {
            "tool_id": ANTHROPIC,
            "call_id": ANTHROPIC,
            "message_id": ANTHROPIC,
            "session_id": ANTHROPIC,
            "sha256": ANTHROPIC,
        },
        {"toolUseId": ANTHROPIC, "sessionId": ANTHROPIC, "uuid": ANTHROPIC},
        {"password": 5, "token": None, "secret": True, "api_key": {}, "auth": [1.5]},
        {"password": "", "token": "${TOKEN}", "secret": "****", "api_key": "<your-key>"},
        {"next_page_token": "abc", "eos_token": "<s>", "token_type": "bearer", "author": "Jane"},
        {"key": "Enter", "auth": "basic", "credentials": "same-origin", "cookie": "0.4.0"},
        {"signature": "EqQBCkgIARABGAIiQ" * 8, "sha": "9f86d081884c7d659a2feaa0c55ad0159f86d081"},
    ],
)
def test_counts_ids_and_placeholders_stay(value: Any) -> None:
    """What joins records, counts tokens or stands for a secret kept elsewhere is never damaged."""
    event = an_event(UnknownPayload(value=value), raw=json.dumps(value))
    assert mask(event) is event


SECRET = f"it is {ANTHROPIC}."
MASKED = f"it is {ANTHROPIC_MARK}."
PACKED = base64.b64encode(b"\x89PNG\xff" + SECRET.encode() + b"\xfe").decode()
HARMLESS = base64.b64encode(bytes(range(256))).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TextBlock(fidelity="router", text=SECRET), TextBlock(fidelity="router", text=MASKED)),
        (ThinkingBlock(fidelity="router", thinking=SECRET), ThinkingBlock(fidelity="router", thinking=MASKED)),
        (
            ToolUseBlock(fidelity="router", tool_name="Bash", tool_id=ANTHROPIC, tool_input={"a": [SECRET]}),
            ToolUseBlock(fidelity="router", tool_name="Bash", tool_id=ANTHROPIC, tool_input={"a": [MASKED]}),
        ),
        (
            ToolResultBlock(fidelity="router", tool_id=ANTHROPIC, tool_content=[{"text": SECRET}]),
            ToolResultBlock(fidelity="router", tool_id=ANTHROPIC, tool_content=[{"text": MASKED}]),
        ),
        (CommandBlock(fidelity="router", command=SECRET), CommandBlock(fidelity="router", command=MASKED)),
        (StreamBlock(fidelity="router", text=SECRET), StreamBlock(fidelity="router", text=MASKED)),
        (
            AttachmentBlock(fidelity="router", media_type=SECRET, size=1, sha256=ANTHROPIC, data=PACKED),
            AttachmentBlock(fidelity="router", media_type=MASKED, size=1, sha256=ANTHROPIC),
        ),
        (
            AttachmentBlock(fidelity="router", media_type=SECRET, size=256, sha256="0", data=HARMLESS),
            AttachmentBlock(fidelity="router", media_type=MASKED, size=256, sha256="0", data=HARMLESS),
        ),
        (UnknownBlock(extra=Extra(type="x", text=SECRET)), UnknownBlock(extra=Extra(type="x", text=MASKED))),
    ],
)
def test_every_block_is_masked_but_not_its_ids(before: Any, after: Any) -> None:
    """Text, thinking, input, content, command and chunk are; identifiers and attached content are left alone."""
    event = an_event(MessagePayload(role="user", blocks=(before,)), type="message.user")
    assert mask(event).payload.blocks == (after,)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            LifecyclePayload(name="n", kind="agent", error=SECRET, result={"x": SECRET}),
            LifecyclePayload(name="n", kind="agent", error=MASKED, result={"x": MASKED}),
        ),
        (
            MessagePayload(role="user", blocks=(), system_prompt=SECRET, message_id=ANTHROPIC),
            MessagePayload(role="user", blocks=(), system_prompt=MASKED, message_id=ANTHROPIC),
        ),
        (
            ToolPayload(name="n", call_id=ANTHROPIC, input=SECRET, output=[SECRET], error=SECRET, fidelity="router"),
            ToolPayload(name="n", call_id=ANTHROPIC, input=MASKED, output=[MASKED], error=MASKED, fidelity="router"),
        ),
        (SystemPayload(subtype="s", text=SECRET, data=SECRET), SystemPayload(subtype="s", text=MASKED, data=MASKED)),
        (ErrorPayload(message=SECRET, data=[SECRET]), ErrorPayload(message=MASKED, data=[MASKED])),
        (UnknownPayload(text=SECRET), UnknownPayload(text=MASKED)),
        (
            UsagePayload(scope="call", input_tokens=1, output_tokens=2, extra=Extra(note=SECRET)),
            UsagePayload(scope="call", input_tokens=1, output_tokens=2, extra=Extra(note=MASKED)),
        ),
        ({"any": ["json", SECRET]}, {"any": ["json", MASKED]}),
        ([{"password": "hunter"}], [{"password": "[masked:password]"}]),
        (SECRET, MASKED),
    ],
)
def test_every_payload_is_masked(before: Any, after: Any) -> None:
    """Errors, results, prompts, inputs, outputs, data, unknown fields and payloads of plain JSON."""
    assert mask(an_event(before)).payload == after
    assert type(mask(an_event(before)).payload) is type(before)


def test_what_an_event_has_no_name_for_is_masked_and_its_origin_is_not() -> None:
    """`extra` carries what others wrote; `origin` carries identifiers."""
    origin = Origin(adapter="a", session_id=ANTHROPIC, prompt_name=ANTHROPIC, extra=Extra(x=ANTHROPIC))
    masked = mask(an_event(None, origin=origin, extra=Extra(note=SECRET, token="abc123")))
    assert masked.extra == {"note": MASKED, "token": "[masked:token]"}
    assert isinstance(masked.extra, Extra)
    assert masked.origin is origin


def test_a_mended_event_is_masked_and_can_be_written_and_read() -> None:
    """Blocks and fields from the future keep their place."""
    line = json.dumps(
        {
            "seq": "one",
            "type": "message.user",
            "payload": {"role": "user", "blocks": [{"type": "hologram", "beam": SECRET}], "new": {"pwd_x": SECRET}},
        }
    ).encode()
    masked = mask(decode(line))
    assert ANTHROPIC not in encode(masked).decode()
    assert decode(encode(masked)) == masked


def test_a_source_line_keeps_every_byte_around_its_secrets() -> None:
    """Spaces, escapes, key order, doubled keys and numbers stay as the agent wrote them."""
    before = (
        '{ "a" :"\\u003cb\\u003e \\/ \\ud83d\\ude00 \\n%s\\t\\u00e9", "a":1.50e3,"password":"p\\"q\\\\", "n":1e400 }\r'
    )
    assert mask(an_event(raw=before % ANTHROPIC)).raw == (before % ANTHROPIC_MARK).replace(
        'p\\"q\\\\', "[masked:password]"
    )


def test_a_source_line_that_is_not_json_is_masked_as_text() -> None:
    """A torn line is still a text with a secret in it."""
    raw = f'{{"text": "{ANTHROPIC}", "password": "hunter tw'
    assert mask(an_event(raw=raw)).raw == f'{{"text": "{ANTHROPIC_MARK}", "password": "[masked:password]'


def test_a_line_that_is_not_utf8_is_masked_in_its_base64() -> None:
    """The line is decoded, masked and encoded again, and its odd bytes are still there."""
    line = b'{"text": "\xff ' + ANTHROPIC.encode() + b' \xfe"}'
    masked = mask(an_event(raw_b64=base64.b64encode(line).decode()))
    assert base64.b64decode(masked.raw_b64 or "") == b'{"text": "\xff ' + ANTHROPIC_MARK.encode() + b' \xfe"}'


@pytest.mark.parametrize("raw_b64", ["no base64!", "YQ", "é", "", base64.b64encode(b"\xffharmless").decode()])
def test_base64_that_says_nothing_stays(raw_b64: str) -> None:
    """What cannot be decoded, or holds no secret, is left as it is."""
    event = an_event(raw_b64=raw_b64)
    assert mask(event) is event


def test_an_event_without_secrets_is_given_back_itself() -> None:
    """No copy is made, so that masking costs harmless events next to nothing."""
    event = an_event(MessagePayload(role="user", blocks=(TextBlock(fidelity="router", text="The key: value."),)))
    assert mask(event) is event


def test_masking_does_not_change_what_the_caller_holds() -> None:
    """The event given in, and the dicts and lists in it, are as before."""
    inner = {"list": [SECRET, {"password": "hunter"}]}
    before = msgspec.json.encode(inner)
    masked = mask(an_event(UnknownPayload(value=inner)))
    assert msgspec.json.encode(inner) == before
    assert masked.payload.value["list"][0] == MASKED


@pytest.mark.parametrize(
    "payload",
    [
        None,
        {1: SECRET, None: [SECRET]},
        {"set": {SECRET}, "bytes": b"x", "password": object()},
        (SECRET, 1),
        {"lone": "\ud800 " + SECRET},
        float("nan"),
        10**400,
    ],
    ids=["nothing", "odd keys", "odd values", "tuple", "lone surrogate", "nan", "huge"],
)
def test_payloads_that_no_json_holds_do_not_raise(payload: Any) -> None:
    """A mask runs inside someone else's agent: whatever it is given, it gives an event back."""
    masked = mask(an_event(payload))
    assert type(masked.payload) is type(payload)
    assert mask(masked) == masked or payload != payload


def test_a_payload_that_holds_itself_does_not_raise() -> None:
    """Nobody could write it, so it is given back as it is."""
    payload: dict[str, Any] = {"password": "hunter"}
    payload["self"] = payload
    assert mask(an_event(payload)).payload is payload


@pytest.mark.parametrize("depth", [10, 700, 100_000])
def test_a_deep_payload_is_masked_as_deep_as_it_can_be_written(depth: int) -> None:
    """Nesting that the walk does not take is masked as JSON; nesting that no journal takes does not raise."""
    payload: Any = {"password": "hunter"}
    for _ in range(depth):
        payload = [payload]
    masked = mask(an_event(ToolPayload(name="n", call_id="c", input=payload, output=None, fidelity="router")))
    assert isinstance(masked.payload, ToolPayload)
    inner = masked.payload.input
    for _ in range(depth):
        inner = inner[0]
    assert inner == {"password": "[masked:password]" if depth < 1000 else "hunter"}


ADVERSARIAL = [
    *sorted({secret[:7] for _, secret in TOKENS}),
    *("-eyJ", "eyJaaaaaaaa.", "SG.aaaaaaaaaaaaaaaaaaaa.", "-sk-", ANTHROPIC),
    *("-----BEGIN ", f"{BEGIN}\n", f'{BEGIN}\\n"', f"{BEGIN}\nA ", f"{BEGIN}\n{BODY}\n"),
    *("://", "://a:", "://a:b@", "Bearer ", "Authorization: ", "authorization=", "Cookie: a=b; ", "Cookie: a"),
    *("password=", "token:", 'token="', 'secret=\\"', 'api_key": "', "token=(", "token=$", "auth", "key"),
    *("cflt", "htpasswd -b .h", "mysql -p", "echo a|", "login ", "password ", "user,password\n", "a,b\n", "|password"),
    *(
        "<password>",
        "<a",
        "&lt;",
        "identified by '",
        "insert into t (password) values ",
        "('a','b'),",
        "kind: Secret\n",
    ),
    *(
        "password is ",
        "from a to ",
        "密码是",
        "machine a login b ",
        "a:5432:b:c:",
        "\tTRUE\t",
        "setPassword(",
        "?sig=",
        "\\",
    ),
    *("--token ", "--password-", "[masked:", "password=[masked:x]", "key=a1B2c3D4e5F6g7H8i9J0k ", '{"password":"'),
]
INSIDE = [
    ('password="', "\\"),
    ('password="', '\\"'),
    ('password="', "token="),
    ("password=", "a.b"),
    ('{"secret":"', "\\\\"),
    ("curl", " -u a:b"),
    ("curl -u a", " --user "),
    ("", "curl "),
]


def cost(before: str, piece: str, size: int, tries: int = 1) -> float:
    """Processor time for a text of that size, the best of some tries."""
    text = before + (piece * (size // len(piece) + 1))[:size]
    times = []
    for _ in range(tries):
        start = process_time()
        mask_text(text)
        times.append(process_time() - start)
    return min(times)


@pytest.mark.parametrize(("before", "piece"), [*(("", piece) for piece in ADVERSARIAL), *INSIDE])
def test_ten_times_the_text_takes_about_ten_times_the_work(before: str, piece: str) -> None:
    """No pattern looks at the same text over and over: that would take a hundred times the work."""
    least = 40 * 0.002  # anything that is done in this time is quick enough
    if cost(before, piece, 30_000) > least:
        assert cost(before, piece, 30_000, 3) < 40 * cost(before, piece, 3_000, 3)


def test_overlapping_finds_become_one_mark_of_the_longest() -> None:
    """No piece of a secret is left between two finds, and ties go to the rule that knows more."""
    spans = [Span(4, 9, "b"), Span(0, 5, "a"), Span(20, 25, "x"), Span(20, 25, "y"), Span(30, 31, "z")]
    assert merge(spans) == [Span(0, 9, "a"), Span(20, 25, "x"), Span(30, 31, "z")]


def test_entropy_is_shannons() -> None:
    """Bits per character: none for one letter, four for sixteen that are equally common."""
    assert entropy("aaaa") == 0
    assert entropy("0123456789abcdef" * 2) == 4


# Where a secret may hide.


def test_keys_are_masked_and_none_is_lost() -> None:
    """Two keys that are masked alike stay two; the source line says the same."""
    other = ANTHROPIC.replace("aB3", "xY7")
    value = {ANTHROPIC: 1, other: {ANTHROPIC: [2]}, "plain": 3}
    masked = mask(an_event(UnknownPayload(value=value), raw=json.dumps(value)))
    assert masked.payload.value == {ANTHROPIC_MARK: 1, f"{ANTHROPIC_MARK}-2": {ANTHROPIC_MARK: [2]}, "plain": 3}
    assert masked.raw == json.dumps(value).replace(ANTHROPIC, ANTHROPIC_MARK).replace(other, ANTHROPIC_MARK)


@pytest.mark.parametrize(
    ("pair", "is_secret"),
    [
        ({"name": "DB_PASSWORD", "value": "hunter2"}, True),
        ({"value": "hunter2", "type": "env", "name": "DB_PASSWORD"}, True),
        ({"Key": "api_key", "Value": "zz19-yy20"}, True),
        ({"ParameterKey": "DbPassword", "ParameterValue": "hunter2"}, True),
        ({"name": "Authorization", "value": "Bearer abc.def-123"}, True),
        ({"name": "Cookie", "value": "sid=hunter2"}, True),
        ({"name": "password", "value": "Enter your password"}, False),
        ({"name": "DB_PASSWORD", "value": "${DB_PASSWORD}"}, False),
        ({"name": "DB_HOST", "value": "hunter2"}, False),
        ({"name": "DB_PASSWORD", "value": 7}, False),
        ({"key": "DB_PASSWORD", "other_value": "hunter2"}, False),
    ],
)
def test_a_name_and_its_value_in_two_fields(pair: dict[str, Any], is_secret: bool) -> None:
    """As objects of a payload, as a source line, as JSON inside a text, and deep in others."""
    for value in (pair, [{"env": [pair]}], json.dumps(pair), json.dumps({"x": json.dumps(pair)})):
        event = an_event(UnknownPayload(value=value), raw=json.dumps({"said": value}))
        masked = mask(event)
        assert (masked is not event) == is_secret
        assert json.loads(masked.raw or "")["said"] == masked.payload.value
        if is_secret:
            assert "hunter2" not in str(masked)
            assert "zz19" not in str(masked)
            assert "abc.def" not in str(masked)


@pytest.mark.parametrize(
    "text",
    [
        "env:\n  - name: DB_PASSWORD\n    value: «hunter2»\n  - name: X\n    value: y",
        "env:\n  - name: DB_PASSWORD\n    value: '«hunter two»'\n",
        "{'name': 'DB_PASSWORD', 'value': '«hunter2»'}",
        'see {\\"name\\": \\"API_KEY\\", \\"value\\": \\"«zz19-yy20»\\"} there',
        '[{name = "DB_PASSWORD", value = "«hunter2»"}]',
    ],
)
def test_a_name_and_its_value_in_text(text: str) -> None:
    """YAML, Python, fragments of JSON."""
    plain = text.replace("«", "").replace("»", "")
    assert re.sub(r"\[masked:[a-z-]+\]", "*", mask_text(plain)) == re.sub("«.*?»", "*", text)


@pytest.mark.parametrize(
    "text",
    [
        f"data:text/plain;base64,{PACKED}",
        PACKED.rstrip("="),
        f"cat x | base64\n{base64.encodebytes(('y' * 40 + ' ' + SECRET).encode()).decode()}",
        base64.b64encode(base64.b64encode(SECRET.encode())).decode(),
        json.dumps({"source": {"type": "base64", "data": PACKED}}),
        "".join(f"\\u{ord(letter):04x}" for letter in SECRET),
        json.dumps({"a": "".join(f"\\u{ord(letter):04x}" for letter in SECRET)}).replace("\\\\", "\\"),
    ],
)
def test_a_secret_in_another_spelling(text: str) -> None:
    """Base64, also in lines and in itself, and escapes that nobody needs."""
    masked = mask_text(text)
    assert "[masked:anthropic-key]" in masked
    assert len(masked) < len(text)
    assert len(masked.splitlines()) == len(text.splitlines())
    assert mask_text(masked) == masked


@pytest.mark.parametrize("text", [HARMLESS, base64.b64encode(b"nothing of interest " * 9).decode(), "a/long/path/" * 9])
def test_base64_without_a_secret_stays(text: str) -> None:
    """Whatever it holds."""
    assert mask_text(f"see {text} there") == f"see {text} there"


NAMED = 'Blue "bird" <ü/%>\\ 2'


@pytest.mark.parametrize(
    "text",
    [
        NAMED,
        json.dumps(NAMED),
        json.dumps(json.dumps([NAMED], ensure_ascii=False)),
        json.dumps({NAMED: json.dumps(json.dumps({"x": NAMED}))}),
        html.escape(NAMED),
        quote(NAMED, safe=""),
        quote_plus(NAMED),
        base64.b64encode(f"amid {NAMED} words".encode()).decode(),
    ],
)
def test_a_secret_that_somebody_named_is_masked_in_every_spelling(text: str) -> None:
    """As text, and inside an event whose line escapes it once more."""
    mask = default_masker([NAMED, "x"])
    masked = mask(an_event(UnknownPayload(value={"said": text}), raw=json.dumps({"said": text})))
    assert "bird" not in str(masked)
    assert "named-secret" in str(masked.payload)
    assert json.loads(masked.raw or "") == masked.payload.value
    assert mask(masked) is masked
    assert default_masker()(an_event(UnknownPayload(value=text))).payload.value == text


def test_a_named_secret_that_is_a_word_of_ours_does_not_break_marks() -> None:
    """Masking twice is masking once, also where a mark holds what was named."""
    mask = default_masker(["token", "mask", "masked:"])
    once = mask(an_event(UnknownPayload(value="ghp_" + "aB3dE6" * 6 + " is a token, masked: no")))
    assert once.payload.value == "[masked:github-token] is a [masked:named-secret], [masked:named-secret] no"
    assert mask(once) is once


def test_what_identifies_an_event_is_masked_for_readers_only() -> None:
    """A journal keeps its ids whatever they hold; what is shared does not."""
    origin = Origin(session_id=ANTHROPIC, file=f"{ANTHROPIC}.jsonl", prompt_name=ANTHROPIC)
    event = replace(an_event(), origin=origin, path=ANTHROPIC)
    assert mask(event) is event
    shared = sharing_mask().event(event)
    assert ANTHROPIC not in str(shared)
    assert shared.origin == Origin(
        session_id=ANTHROPIC_MARK, file=f"{ANTHROPIC_MARK}.jsonl", prompt_name=ANTHROPIC_MARK
    )


def test_what_a_provider_signed_or_encrypted_is_left_as_it_is() -> None:
    """A signature with one letter changed is worth nothing; what it looks like is chance."""
    block = ThinkingBlock(
        fidelity="agent_emitted", thinking=f"It is {ANTHROPIC}", signature=ANTHROPIC, encrypted_content=ANTHROPIC
    )
    event = an_event(MessagePayload(role="assistant", blocks=(block,)), type="message.assistant")
    (masked,) = mask(event).payload.blocks
    assert masked == replace(block, thinking=f"It is {ANTHROPIC_MARK}")
