"""Secrets in calls: `setPassword("x")`, `login("ada", "x")`, `setdefault("API_KEY", "x")`, `password == "x"`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact import judge
from stenograph.redact.header import scheme_end
from stenograph.redact.name import Grade, is_name_of_secret, secret_of
from stenograph.redact.span import Span
from stenograph.redact.value_syntax import VALUE, value_span

_LITERAL = rf"(?=\\{{0,7}}+[\"'`]){VALUE}"
_STRING = r"\\{0,7}+[\"'`][^\"'`\\\n]{0,120}+\\{0,7}+[\"'`]"
_SETTER = re.compile(
    rf"(?:(?<![A-Za-z0-9])(?:set|with|use|check|verify)_?(?P<name>[A-Za-z_]{{2,40}}+)|[.:](?P<method>password|passwd|passphrase"
    rf"|secret|apiKey|api_key|authToken))\(\s{{0,8}}+{_LITERAL}\\{{0,7}}+[\"'`]\s{{0,8}}+\)",
    re.ASCII,
)
_PAIR = re.compile(
    rf"(?:HTTPBasicAuth|HttpBasicAuth|BasicAuth|basicAuth|basic_auth|BasicAuthentication|NetworkCredential"
    rf"|PasswordCredentials"
    rf"|UsernamePasswordCredentials|UsernamePasswordCredential|PasswordAuthentication|PlainAuth|PSCredential"
    rf"|SqlCredential"
    rf"|(?:\.|::|->)(?:login|auth|authenticate|credentials|getConnection|setCredentials|createConnection|logon)"
    rf"|(?<![\w.-])auth=|[ (,]\"?auth\"?:[ ])"
    rf"[(\[](?:\s{{0,8}}+[\w.]{{1,60}}+\s{{0,4}}+,)?"
    rf"(?:\s{{0,8}}+\\{{0,7}}+[\"'`]{{2}}\s{{0,4}}+,)?\s{{0,8}}+{_STRING}\s{{0,8}}+,\s{{0,8}}+{_LITERAL}",
    re.ASCII,
)
_NAMED = re.compile(
    rf"(?:define|setdefault|set|put|add|append|header|setHeader|addHeader|setRequestHeader|setProperty|setenv"
    rf"|putenv|setEnv|getenv"
    rf"|get|fetch|option|config|env|environ|Add|Set|Header"
    rf"|Setenv)\(\s{{0,8}}+\\{{0,7}}+[\"'](?P<name>[\w.-]{{2,80}}+)\\{{0,7}}+[\"']\s{{0,8}}+,\s{{0,8}}+{_LITERAL}",
    re.ASCII,
)
_ARGUMENT = rf"\s{{0,8}}+(?:{_STRING}|[\w.$]{{1,60}}+)\s{{0,4}}+,\s{{0,8}}+"
_THIRD = re.compile(
    rf"(?:getConnection|PDO|mysqli|mysqli_connect|mysql_connect|DBI->connect)\({_ARGUMENT}{_ARGUMENT}{_LITERAL}",
    re.ASCII,
)
"""Connections: the address, the user, the password."""
_SIGNING = re.compile(
    rf"(?:(?i:jwt)\.(?:sign|encode|verify|decode)\((?:[^\"'`\n();]{{1,80}},)\s{{0,8}}+|createHmac\({_ARGUMENT}"
    rf"|(?:hmac|HMAC)\.new\(\s{{0,8}}+b?|Fernet\(\s{{0,8}}+b?){_LITERAL}",
    re.ASCII,
)
_OPTION = re.compile(
    rf"(?:add_argument|option)\([^()\n]{{0,80}}?[\"']--(?P<name>[\w-]{{2,60}}+)\\{{0,7}}+[\"'][^()\n]{{0,200}}?"
    rf"(?<![\w])default=\s{{0,4}}+{_LITERAL}",
    re.ASCII,
)
_COMPARED = re.compile(
    rf"(?P<name>[A-Za-z_]{{0,40}}(?i:password|passwd|passphrase))\s{{0,4}}+[!=]==?\s{{0,4}}+{_LITERAL}", re.ASCII
)


def call_secrets(text: str) -> Iterator[Span]:
    """The secrets among the literal arguments of calls."""
    if "(" in text or "[" in text:
        for match in _SETTER.finditer(text):
            yield from _believed(text, match, match["name"] or match["method"])
        for match in _PAIR.finditer(text):
            yield from _believed(text, match, "password")
        for pattern in (_NAMED, _OPTION):
            for match in pattern.finditer(text):
                yield from _believed(text, match, match["name"])
        for pattern in (_THIRD, _SIGNING):
            for match in pattern.finditer(text):
                yield from _believed(text, match, "password" if pattern is _THIRD else "secret")
    if "=" in text:
        for match in _COMPARED.finditer(text):
            yield from _believed(text, match, "password")


def _believed(text: str, match: re.Match[str], name: str) -> Iterator[Span]:
    secret = secret_of(name)
    if secret is None or secret.grade is not Grade.SURE:
        return
    start, end = value_span(match)
    if secret.kind == "authorization":
        start = scheme_end(text, start, end)
    value = text[start:end].strip()
    if (
        judge.is_placeholder(value)
        or judge.is_no_value(value)
        or judge.is_prose(value)
        or value.lower() == name.lower()
    ):
        return
    if len(value) >= 4 and (secret.kind != "authorization" or " " not in value) and not is_name_of_secret(value):
        yield Span(start, end, secret.kind)
