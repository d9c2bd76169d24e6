"""Passwords in SQL: of users, roles and logins, of encrypted files, and in the rows that are inserted into a table."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact import judge
from stenograph.redact.name import Grade, secret_of
from stenograph.redact.span import Span

_STRING = r"[nN]?\\{0,7}+(?P<quote>['\"])(?P<value>(?>(?:(?!(?P=quote))[^\\\n\[]|\[(?!masked:)){1,256}))"
_STATEMENT = re.compile(
    r"(?:identified\s++(?:with\s++[\w\"'-]{1,60}+\s++)?(?:by|as)\s++(?:password\s++)?"
    r"|(?<=[\s(,])(?:(?:encrypted\s++)?(?:password|secret|secret_access_key|access_token)\s++|password\s*+\(\s*+)"
    r"|(?<=[\s=])(?:crypt|md5|sha1|sha2|sha256|sha512|hashbytes|pgp_sym_encrypt|encrypt|bcrypt"
    r"|password)\(\s*+(?:'[\w-]{1,12}'\s*+,\s*+)?"
    r"|as\s++\w{1,40}+\s++key\s++|pragma\s++(?:re|hex)?key\s*+=\s*+|encryption\s++by\s++password\s*+=\s*+)" + _STRING,
    re.ASCII | re.IGNORECASE,
)
_IS_SQL = re.compile(r"\b(?:create|alter|set|grant|update|insert|attach|pragma|identified)\b", re.ASCII | re.IGNORECASE)
_INSERT = re.compile(
    r"insert\s++into\s++[\w.\"`\[\]]{1,100}+\s*+\((?P<columns>[^()]{1,600}+)\)\s*+values\s*+", re.ASCII | re.IGNORECASE
)
_ROW = re.compile(r"[\s,]{0,8}+\((?P<cells>(?>(?:'(?>(?:[^'\n]|''){0,256})'|[^()'\n]){1,1000}))\)", re.ASCII)
_CELL = re.compile(r"'(?P<text>(?>(?:[^']|'')*))'|[^,']++", re.ASCII)
_MOST_ROWS = 1000


def sql_secrets(text: str, small: str) -> Iterator[Span]:
    """The passwords in SQL statements; `small` is the text in small letters."""
    if "'" not in text and '"' not in text:
        return
    for match in _STATEMENT.finditer(text):
        if _is_believed(match["value"]) and _IS_SQL.search(text, max(0, match.start() - 200), match.end()):
            yield Span(*match.span("value"), "password")
    if "insert" in small:
        yield from _inserted(text)


def _is_believed(value: str) -> bool:
    return (
        not judge.is_placeholder(value)
        and not judge.is_no_value(value)
        and not judge.is_prose(value)
        and " " not in value
    )


def _inserted(text: str) -> Iterator[Span]:
    for match in _INSERT.finditer(text):
        names = [name.strip(' \t\r\n"`[]') for name in match["columns"].split(",")]
        secret = {number: kind for number, name in enumerate(names) if (kind := _kind(name))}
        at = match.end()
        for _ in range(_MOST_ROWS if secret else 0):
            row = _ROW.match(text, at)
            if row is None:
                break
            at = row.end()
            yield from _cells(row, secret)


def _kind(name: str) -> str | None:
    secret = secret_of(name)
    return secret.kind if secret is not None and secret.grade is Grade.SURE else None


def _cells(row: re.Match[str], secret: dict[int, str]) -> Iterator[Span]:
    cells = [cell for cell in _CELL.finditer(row.string, *row.span("cells")) if cell[0].strip(" \t\r\n,")]
    for number, cell in enumerate(cells):
        if number in secret and cell["text"] and not judge.is_placeholder(cell["text"]):
            yield Span(*cell.span("text"), secret[number])
