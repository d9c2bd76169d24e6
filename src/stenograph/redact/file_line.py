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
    rf"(?:(?:\#define|\((?:setq|setf|defvar|defconst|defparameter|def))[ \t]++(?P<macro>[\w-]{{2,80}}+)"
    rf"|(?P<typed>\w{{2,80}}+)[ \t]++(?:As[ \t]++)?(?:string|String"
    rf"|str)[ \t]*+=)[ \t]*+(?=\\{{0,7}}+[\"'`]){VALUE}"
)
_SERVER_COMMAND = re.compile(
    rf"(?:{_NEWLINE}|(?<=>[ ]))(?:AUTH[ \t]++(?:(?:PLAIN|LOGIN|default)[ \t]++)?"
    rf"|(?i:config[ \t]set[ \t]requirepass)[ \t]++"
    rf"|::add-mask::){VALUE}(?=[ \t]*+(?:\r?\n|\\+[rn]|\\*+[\"']|\Z))",
    re.ASCII,
)
"""What people type to a server of Redis or mail, and what a job of GitHub Actions says is secret."""
_ALWAYS = frozenset(("requirepass", "masterauth", "tls-key-file-pass", "primaryauth"))
_MANIFEST = re.compile(
    r"(?:^|(?<=\n))[ \t-]{0,20}+kind:[ \t]*+[\"']?Secret[\"']?[ \t]*+(?:\r?\n|\Z)|\"kind\"\s{0,4}+:\s{0,4}+\"Secret\"",
    re.MULTILINE,
)
_SECTION = re.compile(
    r"(?:^|(?<=\n))(?P<indent>[ \t-]{0,20}+)(?:stringData|data):[ \t]*+\r?\n"
    r"(?P<lines>(?>(?:[ \t]{1,40}[^\r\n]*+(?:\r?\n|\Z)){1,400}))"
)
_FLAT = re.compile(r"\"(?:stringData|data)\"\s{0,8}+:\s{0,8}+\{(?P<fields>[^{}]{1,100000}+)\}")
_FIELD = re.compile(r"\"[\w./-]{1,100}+\"\s{0,4}+:\s{0,4}+\"(?P<value>[^\"\\\[]{1,100000}+)\"")
_ENTRY = re.compile(
    r"(?:^|(?<=\n))(?P<indent>[ \t]++)[\w./-]{1,100}+:[ \t]++"
    r"(?![|>][-+]?[ \t]*+$)[\"']?(?P<value>[^\s\"'\[][^\r\n\"'\[]*+)",
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
    if any(word in text for word in _SERVER_WORDS):
        for match in _SERVER_COMMAND.finditer(text):
            start, end = value_span(match)
            if judge.looks_secret(text[start:end]) or not match[0].startswith("AUTH"):
                yield from _unless_placeholder(text, start, end, "password")
    yield from _directives(text)
    yield from manifest_secrets(text)


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


def manifest_secrets(text: str) -> Iterator[Span]:
    """Every value of a Kubernetes Secret."""
    if "Secret" not in text or not _MANIFEST.search(text):
        return
    for flat in _FLAT.finditer(text):
        for field in _FIELD.finditer(text, *flat.span("fields")):
            yield from _unless_placeholder(text, *field.span("value"), "secret")
    for section in _SECTION.finditer(text):
        for entry in _ENTRY.finditer(text, *section.span("lines")):
            if len(entry["indent"]) <= len(section["indent"]):
                break
            yield from _unless_placeholder(text, *entry.span("value"), "secret")


def _unless_placeholder(text: str, start: int, end: int, kind: str) -> Iterator[Span]:
    if not judge.is_placeholder(text[start:end]) and not judge.is_no_value(text[start:end]):
        yield Span(start, end, kind)


_KIND_SECRET = re.compile(r"kind[\\\"]{0,16}+[ ]?:[ ]?[\\\"']{0,16}+Secret\b", re.ASCII)
_SERVER_WORDS = ("AUTH ", "requirepass", "::add-mask::")
_PGPASS_HINT = re.compile(r":(?:[0-9]{4,5}|\*):[\w*-]{1,64}+:[\w*.@-]{1,64}+:[^\s:]", re.ASCII)


def may_hold_file_secret(text: str) -> bool:
    """Whether a text may hold a line of such a file, beside those that name their secrets by keyword and sign."""
    if ("TRUE" in text or "FALSE" in text) and ("\t" in text or "\\t" in text):
        return True
    if "Secret" in text and _KIND_SECRET.search(text):
        return True
    if any(word in text for word in _SERVER_WORDS):
        return True
    return _PGPASS_HINT.search(text) is not None
