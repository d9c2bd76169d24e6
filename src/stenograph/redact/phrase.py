"""Sentences that say what a password is, in English, German, French, Spanish, Portuguese, Italian, Chinese, Japanese.

A sentence about secrets usually says something else: that they are required, wrong or too short. So a value is
accepted when it is quoted, or mixes letters with digits or signs, or, at the end of a sentence, is a word that says
nothing about passwords.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact import judge
from stenograph.redact.name import is_name_of_secret
from stenograph.redact.span import Span
from stenograph.redact.value_syntax import VALUE, is_quoted, value_span

_PASSWORD = (
    r"pass(?:word|phrase|code|wort|[ -]phrase)s?|kennwort|(?<![a-z])(?:pwd|pw|pin(?:[ -]code)?|mdp|login/pass)(?![a-z])"
    r"|mot de passe|code secret|contrase[ñn]a|palavra-passe|(?<![a-z])(?:senha|clave|parola)(?![a-z])|пароль"
    r"|wachtwoord|has[łl]o(?![a-z])|lösenord|şifre(?![a-z])|adgangskode|passord|salasana|heslo(?![a-z])|jelszó|parolă"
)
_TOKEN = (
    r"(?:api|access|secret|auth|license|encryption|signing)[ _-]?(?:key|token)|clé (?:api|secrète|d'api)"
    r"|(?<![a-z])jeton"
    r"|zugangsschlüssel|api-schlüssel|clave (?:api|secreta|de api)|(?<![a-z_])(?:token|secret)(?![a-z_])|credentials?"
)
_FOR = (
    r"(?:[ ]for[ ]key[ ]['\"][^'\"\n]{1,120}+['\"]"
    r"|[ ](?:for|of|to|on|für|von|zu|pour|de|du|del|para|di|per)[ ][^\s,.;:=]{1,40}+"
    r"(?:[ ](?!is\b|ist\b|est\b|es\b)[^\s,.;:=]{1,40}+){0,2}?)?"
)
_MARKS = r"[*_`]{0,3}+"
_IS = (
    r"(?:[ ](?:is|was|will be|are|ist|lautet|heißt|war|est|sera|es|será|é|è|är|jest)(?:[ ](?:now|set to|currently|jetzt"
    r"|maintenant|ahora|generated for [^\s:]{1,80}+))?(?:[ ]?:)?"
    r"|[ ](?:has been |was |is )?(?:set |changed |reset )?(?:from[ ]\S{1,40}[ ])?to|[ ]?(?::|->|→|=>|—|–|-(?=[ ]))"
    r"|[ ](?:auf|à|a))"
)
_SAID = re.compile(rf"(?P<kind>{_PASSWORD}|{_TOKEN}){_FOR}{_MARKS}{_IS}{_MARKS}[ \t]++{_MARKS}{VALUE}")
_BELOW = re.compile(
    rf"(?P<kind>{_PASSWORD}|{_TOKEN})[ ][^\n:.]{{2,80}}+:[ \t]*+\r?\n\s{{0,8}}+"
    rf"(?=\S{{8}}){VALUE}(?=[ \t]*+(?:\r?\n|\Z))"
)
"""A sentence that announces a password, which is alone on a line below."""
_LOGIN = re.compile(
    r"(?:user(?:name)?|login|e-?mail|account)\b[^\n]{0,80}?(?:[,;/ \t]|\r?\n[ \t]{0,20}+)"
    rf"(?P<kind>pass)[ \t]{{0,4}}+[:=]?[ \t]{{0,4}}+{VALUE}"
)
"""`pass` means a password behind the name of a user."""
_REFERENCE = re.compile(r"![a-z]{2,40}+")
_PLAIN = re.compile(rf"(?P<kind>{_PASSWORD})[ \t]++{VALUE}")
_SLASH = re.compile(
    rf"(?P<kind>credentials?|creds|login|user(?:name)?)[ ]?:[ ][^\s/:]{{2,40}}+(?::|[ ]?/[ ]?)"
    rf"(?:pass(?:word)?[ ]?:?[ ])?{VALUE}"
)
_ASIAN = re.compile(
    r"(?:密码|密碼|口令|密钥|密鑰|令牌|暗号|パスワード|暗証番号|合言葉|トークン|비밀번호|암호)"
    r"[^\s!-~：是为為は＝]{0,12}+[ ]?(?:是|为|為|は|：|:|＝|=|，|:){0,2}+[ 「『“\"'`]{0,3}+(?P<value>[!-~]{4,128})"
)
_WORDS = re.compile(rf"(?:{_PASSWORD}|{_TOKEN}|credentials?|creds|login|user|account)")
_STATES = re.compile(r"[:→—>]|[ ](?:is|was|are|ist|lautet|heißt|est|es|é|è)[ ]|(?:set|changed|reset)[ ]to[ ]")
_PUNCTUATION = ".,;:!?)]}*_"
_SENTENCE_END = re.compile(r"[.,;!?)]*+(?:\s*+\Z|\\*+[\"'\n]|[.,;!?)](?=\s)|\s*+\n|\\+n)")
_SAYS_SOMETHING_ELSE = re.compile(
    r".*(?:ed|en|ing|able|ible|ive|al|ous|ful|less|ly|ent|ant|ic|ary|ory|ect|ong|ort|ak|id|ty|gig|lich|isch|bar|los"
    r"|sch|ert"
    r"|iert|ügt|cht|elt|uis|oire|ide|ecte?|ourt|rado|rida|rto|ria|cta|lida|nte|sa|sible)"
    r"|(?:a|an|and|any|as|at|bad|base|because|both|by|case|clear|correct|default|different|down|dummy|either|empty"
    r"|enough"
    r"|false|fine|for|free|from|good|gone|here|how|if|in|it|its|just|known|leaked|left|like|local|lost|made|mine"
    r"|more|my"
    r"|never|new|no|none|not|now|null|of|off|ok|okay|old|on|one|only|open|or|our|ours|out|over|plain|plaintext"
    r"|public|safe"
    r"|same|secure|sent|set|shown|so|still|stale|string|sure|text|that|the|theirs|then|there|this|to|too|true|undefined"
    r"|unique|unknown|unset|up|used|very|via|was|weak|what|when|where|which|who|why|with|written|yes|yet|you|your|yours"
    r"|falsch|leer|zu|nicht|das|der|die|ein|eine|im|in|und|alt|neu|richtig|sicher|gleich|hier|noch|nur|vide|pas"
    r"|trop|faux|un"
    r"|une|le|la|en|ici|no|muy|una|el|que|se|si|incorrecta|obligatoria|vacía|aquí|verkeerd|onjuist|leeg)",
    re.ASCII,
)


def said_secrets(text: str, small: str) -> Iterator[Span]:
    """The values that sentences call a password, a key or a token; `small` is the text in small letters."""
    if not text.isascii():
        yield from _asian(text)
    if not _WORDS.search(small):
        return
    for match in _SAID.finditer(small):
        yield from _believed(text, match, allows_word=_is_password(match) and _STATES.search(match[0]) is not None)
    for pattern in (_PLAIN, _SLASH, _BELOW, _LOGIN):
        for match in pattern.finditer(small):
            yield from _believed(text, match, allows_word=False)


def _is_password(match: re.Match[str]) -> bool:
    return match.re is _LOGIN or re.match(_PASSWORD, match["kind"]) is not None


def _asian(text: str) -> Iterator[Span]:
    for match in _ASIAN.finditer(text):
        start = match.start("value")
        value = match["value"].rstrip(_PUNCTUATION + "\"'`")
        if (
            len(value) >= 4
            and not judge.is_placeholder(value)
            and not judge.is_no_value(value)
            and value.strip(":=.-|")
        ):
            yield Span(start, start + len(value), "password")


def _believed(text: str, match: re.Match[str], *, allows_word: bool) -> Iterator[Span]:
    start, end = value_span(match)
    kind = "password" if _is_password(match) else "secret" if "secret" in match["kind"] else "token"
    value = text[start:end]
    if _REFERENCE.fullmatch(value) and match.re is _SAID and text[end : end + 1] == " ":
        return
    if judge.is_placeholder(value) or judge.is_no_value(value) or is_name_of_secret(value.rstrip(_PUNCTUATION)):
        return
    if is_quoted(match):
        is_secret = " " not in value and (judge.looks_mixed(value) or (allows_word and len(value) >= 4))
        is_secret = is_secret and not _SAYS_SOMETHING_ELSE.fullmatch(value.lower())
    else:
        value = value.rstrip(_PUNCTUATION)
        end = start + len(value)
        is_secret = judge.looks_mixed(value) or (allows_word and _is_word_at_end(text, value, end))
    if is_secret:
        yield Span(start, end, kind)


def _is_word_at_end(text: str, value: str, end: int) -> bool:
    """Whether a word, or a number, ends a sentence and says nothing about passwords."""
    if value.isdigit():
        return 4 <= len(value) <= 12
    if len(value) < 5 or not value.isalpha() or _SAYS_SOMETHING_ELSE.fullmatch(value.lower()):
        return False
    return _SENTENCE_END.match(text, end) is not None
