"""Secrets on command lines: behind options with a secret name, and behind those whose meaning depends on the command.

Theory of operation. One expression finds the names of commands. Behind a name, the expression for that command finds
the values: up to the end of the command, the next command with the same expression or `_NEAR` characters. So each part
of a text is read only a few times.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from stenograph.redact import judge
from stenograph.redact.header import parts_of
from stenograph.redact.name import Grade, secret_of
from stenograph.redact.rules import alternation
from stenograph.redact.span import Span, merge
from stenograph.redact.value_syntax import VALUE, value_span

_USER = r"[^\s:\"'`\\\[]{1,64}+"
_QUOTE = r"(?:\\{0,7}+[\"'])?"
_WORD = r"[^\s\"'`|;]{1,120}+"
_LETTER_P = rf"(?<=[ \t])-p[ \t]{{0,4}}+{VALUE}"
_LOGIN_P = rf"(?<=login)[ \t](?:[^\n]{{0,200}}?[ \t])?(?:-p|--password)[ \t=]{{1,4}}+{VALUE}"

_COMMANDS: dict[str, str] = {
    "mysql|mysqldump|mysqladmin|mysqlimport|mysqlshow|mysqlcheck|mysqlsh|mycli|mariadb|mariadb-dump|mariadb-admin": (
        rf"(?<=[ \t])-p{VALUE}"
    ),
    "sshpass|twine|mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport|psexec|psexec64|PsExec|PsExec64|altool|crackmapexec|cme|nxc"
    "|netexec|evil-winrm|hydra|useradd|usermod|beeline|steghide|cf|oc|ibmcloud|rdesktop|winrs|pgloader|kcadm|sqlpackage"
    "|cqlsh|cypher-shell|neo4j-admin": _LETTER_P,
    "docker|podman|nerdctl|buildah|skopeo|helm|oras|crane": _LOGIN_P,
    "az": (
        rf"(?:(?<=login)[ \t](?:[^\n]{{0,200}}?[ \t])?(?:-p|--password)[ \t=]{{1,4}}+"
        rf"|(?<=keyvault)[ \t]++secret[ \t]++set[ \t][^\n]{{0,200}}?--value[ \t=]{{1,4}}+){VALUE}"
    ),
    "redis-cli|redli|keydb-cli|valkey-cli": (
        rf"(?<=[ \t])(?:-a|(?i:auth)(?:[ \t]++default)?|(?i:config[ \t]set[ \t]requirepass))[ \t]{{1,4}}+{VALUE}"
    ),
    "security": (
        rf"(?<=[ \t])(?:(?:unlock|create)-keychain|import|add-(?:generic|internet)-password)[ \t]"
        rf"(?:[^\n]{{0,200}}?[ \t])?-[pPw][ \t]++{VALUE}"
    ),
    "signtool": rf"(?<=[ \t])/p[ \t]++{VALUE}",
    "etcdctl": rf"(?<=[ \t])--user[ \t=]{{1,4}}+{_QUOTE}{_USER}:{VALUE}",
    "hatch": rf"(?<=[ \t])(?:-a|--auth)[ \t=]{{1,4}}+{VALUE}",
    "netlify": rf"(?<=[ \t])env:set[ \t]++(?P<name>\w{{2,80}}+)[ \t]++(?!-){VALUE}",
    "cloudflared": rf"(?<=[ \t])service[ \t]install[ \t]++(?!-){VALUE}",
    "htpasswd": rf"(?<=[ \t])-[A-Za-z]{{0,4}}b[A-Za-z]{{0,4}}[ \t]++{_WORD}[ \t]++{_WORD}[ \t]++{VALUE}",
    "openssl": rf"(?:(?<=[ \t])-pass(?:in|out)?[ \t]++{_QUOTE}pass:|(?<=[ \t])-k[ \t]++){VALUE}",
    "zip|unzip|sqlcmd|bcp|osql|isql|tsql|mosquitto_pub|mosquitto_sub|mosquitto_passwd": (
        rf"(?<=[ \t])-P[ \t]{{0,4}}+{VALUE}"
    ),
    "7z|7za|7zz|7zr|rar|unrar": rf"(?<=[ \t])-h?p{VALUE}",
    "curl": rf"(?<=[ \t])(?:(?:-[uU][ \t]{{0,4}}+|--(?:proxy-)?user(?:=|[ \t]{{1,4}}+)){_QUOTE}{_USER}:"
    rf"|(?:-b|--cookie)[ \t=]{{1,4}}+{_QUOTE}[^\s=\"';]{{1,64}}+=){VALUE}",
    "http|httpie|xh": rf"(?<=[ \t])(?:-a|--auth)[ \t=]{{1,4}}+{_QUOTE}{_USER}:{VALUE}",
    "ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami|ldappasswd|ldapcompare": (
        rf"(?<=[ \t])-[ws][ \t]{{0,4}}+(?!one|sub|base|children){VALUE}"
    ),
    "smbclient|rpcclient|winexe|smbmap|smbget|wmic|rpcdump": (
        rf"(?<=[ \t])-U[ \t]{{0,4}}+{_QUOTE}[^\s%\"'`\\]{{1,64}}+%{VALUE}"
    ),
    "lftp|ncftp": rf"(?<=[ \t])-u[ \t]{{0,4}}+{_QUOTE}[^\s,\"'`\\]{{1,64}}+,{VALUE}",
    "xfreerdp|wfreerdp|sdl-freerdp": rf"(?<=[ \t])/p:{VALUE}",
    "plink|pscp|psftp|putty": rf"(?<=[ \t])-pw[ \t]{{1,4}}+{VALUE}",
    "keytool|jarsigner|apksigner": (
        rf"(?<=[ \t])-{{1,2}}(?:src|dest|ks|key)?-?(?:store|key)?-?pass(?:wd)?[ \t]++(?:pass:)?{VALUE}"
    ),
    "vault|bw": rf"(?<=[ \t])(?:login|unlock|unseal)[ \t]++(?>(?:[^\s@]{{1,60}}@[^\s@]{{1,60}}+[ \t]*+)?)(?!-){VALUE}",
    "rabbitmqctl": rf"(?<=[ \t])(?:add_user|change_password|authenticate_user)[ \t]++{_WORD}[ \t]++{VALUE}",
    "ngrok": rf"(?<=[ \t])(?:add-)?authtoken[ \t]++{VALUE}",
    "ssh-keygen": rf"(?<=[ \t])-[NP][ \t]{{0,4}}+{VALUE}",
    "mc": rf"(?<=[ \t])(?:alias[ \t]set|config[ \t]host[ \t]add)[ \t]++(?:{_WORD}[ \t]++){{3}}{VALUE}",
    "wpa_passphrase": rf"[ \t]++{_QUOTE}[^\n\"']{{1,64}}?{_QUOTE}[ \t]++{VALUE}[ \t]*+$",
    "nmcli": rf"(?<=[ \t])(?:password|wifi-sec\.psk)[ \t]++{VALUE}",
    "net": (
        rf"(?<=[ \t])(?:use[ \t][^\n]{{0,160}}?/user:{_WORD}[ \t]++{VALUE}"
        rf"|user[ \t]++{_WORD}[ \t]++(?P<sent>[^\s/][^\s\[]{{0,120}}+)(?=[ \t]++/(?:add|domain|active)))"
    ),
    "influx|doctl": rf"(?<=[ \t])-t[ \t]++{VALUE}",
    "snyk": rf"(?<=[ \t])(?:-t|auth)[ \t]++(?!-){VALUE}",
    "cargo|wandb": rf"(?<=[ \t])login[ \t]++(?!-){VALUE}",
    "nuget|dotnet": (
        rf"(?<=[ \t])(?:-k|-ApiKey|setapikey|push[ \t]++[^\s-][^\s]{{0,200}}\.nupkg|user-secrets[ \t]++set[ \t]++"
        rf"{_QUOTE}[\w.:-]{{1,80}}+{_QUOTE})[ \t]++(?!-){VALUE}"
    ),
    "sqlplus|sqlldr|expdp|impdp|rman": rf"(?<=[ \t]){_QUOTE}[A-Za-z][\w.$]{{0,40}}+/{VALUE}",
    "gh|glab": rf"(?<=[ \t])(?:secret|variable)[ \t]set[ \t][^\n]{{0,120}}?(?:-b|--body|-v|--value)[ \t=]++{VALUE}",
    "pdftk": rf"(?<=[ \t])(?:user_pw|owner_pw|input_pw)[ \t]++(?:\w=)?{VALUE}",
    "snmpwalk|snmpget|snmpset|snmpbulkwalk": rf"(?<=[ \t])-[AX][ \t]++{VALUE}",
    "expect|send|send_user|sendline": r"[ \t(]++(?:--[ \t])?\\{0,7}+[\"'](?P<sent>[^\"'\\\n\[]{4,80}+)\\+[rn]",
    "ConvertTo-SecureString": rf"[ \t]++(?:-String[ \t]++)?(?=\\{{0,7}}+[\"']){VALUE}",
    "sudo|chpasswd|echo|printf": r"(?!)",  # found by `_PIPED` and `_HERE_STRING`; here for `COMMAND_NAMES`
    "restic": rf"(?<=--password-command)[ \t=]++{_QUOTE}echo[ \t]++{VALUE}",
    "poetry": (
        rf"(?<=[ \t])(?:config[ \t]++(?:pypi-token\.[\w-]{{1,60}}+|http-basic\.[\w-]{{1,60}}+[ \t]++{_WORD})[ \t]++"
        rf"|publish[ \t](?:[^\n]{{0,200}}?[ \t])?-p[ \t]++){VALUE}"
    ),
    "git|npm|yarn|pnpm|aws|gcloud|composer|bundle|pip|conda|wrangler|pulumi|snowsql": (
        rf"(?<=[ \t])(?:(?:config|configure)[ \t](?>(?:(?:set|--global|--local|--system|--add|--secret|-g)[ \t]++)*)"
        rf"{_QUOTE}(?P<name>[\w./:@-]{{2,120}}+){_QUOTE}(?:=|[ \t]++)"
        rf"|put-parameter[ \t](?=[^\n]{{0,400}}SecureString)[^\n]{{0,400}}?--value[ \t=]++)(?!-){VALUE}"
    ),
}
COMMAND_NAMES = {name: number for number, names in enumerate(_COMMANDS) for name in names.split("|")}
_OPTIONS = tuple(re.compile(pattern, re.ASCII) for pattern in _COMMANDS.values())
_COMMAND = re.compile(rf"(?<![\w.-])(?:{alternation(sorted(COMMAND_NAMES))})(?:\.exe)?(?![\w:.-])", re.ASCII)
_END = re.compile(r"(?<!\\)\n|\\n(?![\w-])|[ \t](?:\|\|?|&&|;)(?=[ \t])|;(?=[ \t])")
_NEAR = 4000
"""Characters of a command line that are searched."""

_FLAG = re.compile(
    rf"(?<![\w-])--?(?P<name>[A-Za-z][\w.-]{{1,60}}+)(?:[ \t]{{1,4}}+"
    rf"|\\{{0,7}}+[\"'][ \t]{{0,4}}+,\s{{0,8}}+(?=\\{{0,7}}+[\"']))(?!-){VALUE}",
    re.ASCII,
)
_SETTING = re.compile(
    rf"(?<![\w-])(?:ENV|ARG|setenv|setx|set[ \t]-[gUx]{{1,3}}"
    rf"|export)[ \t]++(?P<name>[A-Za-z_]\w{{1,60}}+)[ \t]++{VALUE}",
    re.ASCII,
)
_PIPED = re.compile(
    rf"(?<![\w-])(?:echo|printf)[ \t]++(?:-[neE]{{1,3}}+[ \t]++)?(?:[\"']%s"
    rf"(?:\\+n)?[\"'][ \t]++)?{VALUE}[\"']?[ \t]*+\|"
    r"[ \t]*+[^\n|;]{0,200}?"
    r"(?:--password-stdin|--pass(?:word|phrase)-fd|--with-token|--token-stdin|-S\b|--stdin|chpasswd|(?<![\w-])passwd"
    r"|cryptsetup|secrets?[ ](?:put|create|set|versions[ ]add)|vercel[ ]env[ ]add|secret-tool[ ]store)",
    re.ASCII,
)
_HERE_STRING = re.compile(
    rf"(?:sudo[ \t]+-\w*S\w*|--password-stdin|chpasswd|--with-token)[^\n|;]{{0,80}}?<<<[ \t]*+{VALUE}"
)
_HEREDOC = re.compile(
    r"chpasswd[^\n|;<]{0,40}+<<-?[ \t]*+[\"']?(?P<end>\w{1,20})[\"']?\n[\w.@-]{1,60}+:(?P<sent>[^\s\[]{1,128}+)\n",
    re.ASCII,
)
_PAIRED = re.compile(r"[\w.@-]{1,60}:(?=.)")
"""The user before the password, as `chpasswd` reads them."""
_BETWEEN_ARGUMENTS = re.compile(r"\\{0,7}+[\"'],\s{0,8}+\\{0,7}+[\"']")
_METAVARIABLE = re.compile(r"[A-Z][A-Z_]*+|[A-Za-z]{1,20}=", re.ASCII)
"""What stands for a value in a help text: `--password PASSWORD`."""
_PROSE = frozenset(
    [
        "a",
        "also",
        "an",
        "and",
        "are",
        "argument",
        "arguments",
        "as",
        "at",
        "be",
        "because",
        "but",
        "by",
        "can",
        "do",
        "does",
        "e.g.",
        "either",
        "etc",
        "flag",
        "flags",
        "for",
        "from",
        "has",
        "have",
        "here",
        "if",
        "in",
        "instead",
        "is",
        "it",
        "like",
        "may",
        "means",
        "must",
        "not",
        "now",
        "of",
        "on",
        "only",
        "option",
        "options",
        "or",
        "otherwise",
        "parameter",
        "should",
        "so",
        "string",
        "text",
        "than",
        "that",
        "the",
        "then",
        "this",
        "to",
        "together",
        "value",
        "via",
        "was",
        "when",
        "where",
        "which",
        "while",
        "will",
        "with",
        "without",
    ]
)
"""Words that follow an option in a sentence about it."""


def command_secrets(text: str) -> Iterator[Span]:
    """The secrets among the options and arguments of commands."""
    yield from _flags(text)
    yield from _by_command(text)
    yield from _settings(text)
    if "|" in text or "<<" in text:
        for pattern in (_PIPED, _HERE_STRING, _HEREDOC):
            for match in pattern.finditer(text):
                yield from _span(text, match)


def argument_secrets(arguments: Sequence[str]) -> dict[int, list[Span]]:
    """The secrets in a command that is a list of arguments: for the place of an argument, the spans inside it."""
    if not any(each.startswith("-") for each in arguments) or any("\n" in each for each in arguments):
        return {}
    found: dict[int, list[Span]] = {}
    starts = list(accumulate((len(each) + 1 for each in arguments), initial=0))
    for span in merge(command_secrets(" ".join(arguments))):
        number = bisect_right(starts, span.start) - 1
        start, end = span.start - starts[number], min(span.end - starts[number], len(arguments[number]))
        found.setdefault(number, []).append(Span(start, end, span.kind))
    return found


def may_hold_command_secret(text: str) -> bool:
    """Whether a text may hold a command with a secret, also when the text is escaped inside JSON."""
    if "\\" in text:
        text = text.replace("\\n", "\n").replace("\\t", "\t")
    if '"-' in text or "'-" in text:
        text = _BETWEEN_ARGUMENTS.sub(" ", text)
    return any(True for _ in command_secrets(text))


def _by_command(text: str) -> Iterator[Span]:
    last: dict[int, re.Match[str]] = {}
    for match in _COMMAND.finditer(text):
        kind = COMMAND_NAMES[match[0].removesuffix(".exe")]
        if kind in last:
            yield from _in_command(text, last[kind], match.start(), kind)
        last[kind] = match
    for kind, match in last.items():
        yield from _in_command(text, match, len(text), kind)


def _in_command(text: str, command: re.Match[str], stop: int, kind: int) -> Iterator[Span]:
    stop = min(stop, command.end() + _NEAR)
    end = _END.search(text, command.end(), stop)
    stop = end.start() if end else stop
    for match in _OPTIONS[kind].finditer(text, command.end(), stop):
        name = match.groupdict().get("name")
        if name is None or _names_secret(name):
            yield from _span(text, match)


def _names_secret(name: str) -> bool:
    secret = secret_of(re.split(r"[./:]", name)[-1])
    return secret is not None and secret.grade >= Grade.FAIR


def _span(text: str, match: re.Match[str]) -> Iterator[Span]:
    start, end = match.span("sent") if match.groupdict().get("sent") is not None else value_span(match)
    paired = _PAIRED.match(text, start, end) if match.re is _PIPED and "chpasswd" in match[0] else None
    start = paired.end() if paired else start
    value = text[start:end]
    if value and not judge.is_placeholder(value) and not value.startswith("-"):
        yield Span(start, end, "password")


def _flags(text: str) -> Iterator[Span]:
    """The values of `--password X`, `-Password X` and of `"--password", "X"`."""
    if "-" not in text:
        return
    for match in _FLAG.finditer(text):
        secret = secret_of(match["name"])
        if secret is None:
            continue
        start, end = value_span(match)
        value = text[start:end]
        if _is_secret_argument(value, secret.grade, match):
            yield from parts_of(secret.kind, text, start, end)


def _is_secret_argument(value: str, grade: Grade, match: re.Match[str]) -> bool:
    """Whether the value of an option is a secret: not a word of a sentence, not the name of a value in a help text."""
    if judge.is_placeholder(value) or value.startswith("-") or _METAVARIABLE.fullmatch(value):
        return False
    if grade <= Grade.WEAK:
        return judge.is_random(value)
    if not match[0].startswith("--") and not judge.looks_secret(value):
        return False  # `-token x` may also be a minus sign and a variable
    if grade is Grade.FAIR and judge.is_path(value):
        return False
    word = value.rstrip(".,:;!?)")
    return word.lower() not in _PROSE and not judge.is_no_value(word)


def _settings(text: str) -> Iterator[Span]:
    """The values of `ENV NAME X` and its like."""
    for match in _SETTING.finditer(text):
        secret = secret_of(match["name"])
        if secret is not None and secret.grade >= Grade.FAIR:
            start, end = value_span(match)
            if not judge.is_placeholder(text[start:end]):
                yield Span(start, end, secret.kind)
