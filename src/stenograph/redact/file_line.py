"""Lines of files whose format has a place for a password: netrc, pgpass, cookies, configuration without a sign."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact import judge
from stenograph.redact.name import Grade, secret_of
from stenograph.redact.span import Span
from stenograph.redact.value_syntax import VALUE, is_quoted, value_span

_NEWLINE = r"(?:^|(?<=\n)|(?<=\\n))"
_NETRC = re.compile(
    rf"(?:machine\s++\S{{1,100}}+|(?<![\w-])default)\s++(?:login\s++\S{{1,100}}+\s++"
    rf"(?:account\s++\S{{1,100}}+\s++)?|account\s++\S{{1,100}}+\s++)?password\s++{VALUE}"
)
_PGPASS = re.compile(
    rf"{_NEWLINE}(?:[A-Za-z0-9*][\w.*-]{{0,100}}+|\*):(?:[0-9]{{4,5}}"
    rf"|\*):[\w*-]{{1,64}}+:[\w*.@-]{{1,64}}+:(?P<value>[^\s\"'`\\\[]{{1,128}}+)(?=\s|\\|\"|\Z)",
    re.ASCII,
)
_COOKIE = re.compile(
    r"[\w.-]{3,100}+\t(?:TRUE|FALSE)\t[^\t\n]{1,100}+\t(?:TRUE"
    r"|FALSE)\t[0-9]{1,12}+\t[^\t\n]{1,100}+\t(?P<value>[^\t\r\n\[]{1,4096}+)"
)
_DIRECTIVE = re.compile(
    rf"{_NEWLINE}[ \t]{{0,16}}+(?P<name>[A-Za-z][\w.-]{{2,60}}+)[ \t]++{VALUE}\\{{0,7}}+[\"'`]?;?[ \t]*+(?=\r?\n"
    rf"|\\+[rn]|\Z)",
    re.ASCII,
)
_DEFINITION = re.compile(
    rf"(?:\#define[ \t]++(?P<macro>\w{{2,80}}+)|(?P<typed>\w{{2,80}}+)[ \t]++(?:string|String"
    rf"|str)[ \t]*+=)[ \t]*+(?=\\{{0,7}}+[\"'`]){VALUE}"
)
_ALWAYS = frozenset(("requirepass", "masterauth", "tls-key-file-pass", "primaryauth"))
_MANIFEST = re.compile(r"(?:^|(?<=\n))kind:[ \t]*+[\"']?Secret[\"']?[ \t]*+\r?\n", re.MULTILINE)
_SECTION = re.compile(
    r"(?:^|(?<=\n))(?:stringData|data):[ \t]*+\r?\n(?P<lines>(?>(?:[ \t]{1,20}[^\r\n]*+(?:\r?\n|\Z)){1,400}))"
)
_ENTRY = re.compile(
    r"(?:^|(?<=\n))[ \t]++[\w./-]{1,100}+:[ \t]++(?![|>][-+]?[ \t]*+$)[\"']?(?P<value>[^\s\"'\[][^\r\n\"'\[]*+)",
    re.MULTILINE,
)
_TERRAFORM = re.compile(
    rf"variable[ \t]++\\{{0,7}}+\"(?P<name>\w{{2,80}}+)\\{{0,7}}+\"[ \t]*+\{{[^{{}}]{{0,600}}?"
    rf"default[ \t]*+=[ \t]*+(?=\\{{0,7}}+\"){VALUE}"
)


def file_secrets(text: str) -> Iterator[Span]:
    """The passwords in their places in such files."""
    if "assw" in text:
        for match in _NETRC.finditer(text):
            yield from _unless_placeholder(text, *value_span(match), "password")
    if ":" in text:
        for match in _PGPASS.finditer(text):
            yield from _unless_placeholder(text, *match.span("value"), "password")
    if "\tTRUE\t" in text or "\tFALSE\t" in text:
        for match in _COOKIE.finditer(text):
            yield from _unless_placeholder(text, *match.span("value"), "cookie")
    yield from _directives(text)
    yield from _manifests(text)


def _directives(text: str) -> Iterator[Span]:
    """Lines of a name and a value, `#define`s and typed constants."""
    for match in _DIRECTIVE.finditer(text):
        name, (start, end) = match["name"], value_span(match)
        secret = secret_of(name)
        is_sure = secret is not None and secret.grade is Grade.SURE
        value = text[start:end]
        if name in _ALWAYS or (is_sure and (judge.looks_mixed(value) or (is_quoted(match) and " " not in value))):
            yield from _unless_placeholder(text, start, end, secret.kind if secret else "password")
    for pattern in (_DEFINITION, _TERRAFORM):
        for match in pattern.finditer(text):
            groups = match.groupdict()
            secret = secret_of(groups.get("macro") or groups.get("typed") or groups.get("name") or "")
            if secret is not None and secret.grade is Grade.SURE:
                yield from _unless_placeholder(text, *value_span(match), secret.kind)


def _manifests(text: str) -> Iterator[Span]:
    """Every value of a Kubernetes Secret."""
    if not _MANIFEST.search(text):
        return
    for section in _SECTION.finditer(text):
        for entry in _ENTRY.finditer(text, *section.span("lines")):
            yield from _unless_placeholder(text, *entry.span("value"), "secret")


def _unless_placeholder(text: str, start: int, end: int, kind: str) -> Iterator[Span]:
    if not judge.is_placeholder(text[start:end]) and not judge.is_no_value(text[start:end]):
        yield Span(start, end, kind)


_PGPASS_HINT = re.compile(r":(?:[0-9]{4,5}|\*):[\w*-]{1,64}+:[\w*.@-]{1,64}+:[^\s:]", re.ASCII)


def may_hold_file_secret(text: str) -> bool:
    """Whether a text may hold a line of such a file, beside those that name their secrets by keyword and sign."""
    if ("TRUE" in text or "FALSE" in text) and ("\t" in text or "\\t" in text):
        return True
    if "kind: Secret" in text:
        return True
    return _PGPASS_HINT.search(text) is not None
