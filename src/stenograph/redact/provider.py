"""Tokens that show by their own shape who issued them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from stenograph.redact.span import Span

_ALNUM = "A-Za-z0-9"
_WORD = r"A-Za-z0-9_-"
_BLANKED = re.compile(r"[xX*._0-]+")
_LONG_PART = re.compile(r"[A-Za-z0-9]{20}|[0-9]")


class Token(NamedTuple):
    """One shape of token."""

    kind: str
    prefix: str
    """Stands in every such token, so that one substring search rules most texts out."""
    pattern: re.Pattern[str]
    """All of it is secret; group 1 is what follows the prefix."""
    credible: Callable[[str], bool]


def _edge(prefix: str, inside: str) -> str:
    """An assertion, for right behind the prefix, that the prefix did not begin inside a word.

    Behind and not before it, because a pattern that begins with its literal is searched many times faster. The
    letters that end an escape (`\\n`, `\\u001b`, `%20`, a terminal colour) are no part of the word they precede.
    """
    ends = r"\\[nrtbf]", r"\\u00[0-9a-fA-F]{2}", r"%[0-9a-fA-F]{2}", r"\[\dm", r"\[\d\dm", r"\[\d;\d\dm"
    after = "|".join(f"(?<={end}{prefix})" for end in ends)
    return f"(?:(?<![{inside}]{prefix})|{after})"


def _not_blanked(secret: str) -> bool:
    """Whether the token is more than a documentation's row of x."""
    return not _BLANKED.fullmatch(secret)


def _no_css_class(secret: str) -> bool:
    """Whether the token is more than short words with dashes, such as `sk-fading-circle-container`."""
    return _not_blanked(secret) and _LONG_PART.search(secret) is not None


def _token(
    kind: str,
    prefix: str,
    body: str,
    *,
    inside: str = _ALNUM,
    credible: Callable[[str], bool] = _not_blanked,
) -> Token:
    """A token of a literal prefix and a body; `inside` are the letters it may not follow."""
    literal = re.escape(prefix)
    return Token(kind, prefix, re.compile(f"{literal}{_edge(literal, inside)}({body})", re.ASCII), credible)


_LONG = rf"[{_WORD}]"
TOKENS: tuple[Token, ...] = (
    _token("anthropic-key", "sk-ant-", rf"{_LONG}{{16,}}+"),
    _token("openrouter-key", "sk-or-", rf"{_LONG}{{20,}}+"),
    _token("openai-key", "sk-", rf"{_LONG}{{20,}}+", credible=_no_css_class),
    _token("aws-access-key", "AKIA", rf"[A-Z0-9]{{16}}(?![{_ALNUM}])"),
    _token("aws-access-key", "ASIA", rf"[A-Z0-9]{{16}}(?![{_ALNUM}])"),
    _token("google-key", "AIza", rf"{_LONG}{{35,}}+"),
    _token("google-token", "ya29.", rf"{_LONG}{{20,}}+"),
    _token("google-client-secret", "GOCSPX-", rf"{_LONG}{{20,}}+"),
    *(_token("github-token", f"gh{letter}_", r"\w{30,}+") for letter in "pousr"),
    _token("github-token", "github_pat_", r"\w{22,}+"),
    _token("gitlab-token", "glpat-", rf"{_LONG}{{20,}}+"),
    *(_token("slack-token", f"xox{letter}-", rf"{_LONG}{{10,}}+") for letter in "abprs"),
    _token("slack-token", "xapp-", rf"{_LONG}{{20,}}+", credible=_no_css_class),
    *(_token("stripe-key", prefix, r"\w{10,}+") for prefix in ("sk_live_", "rk_live_", "sk_test_", "rk_test_")),
    _token("stripe-key", "whsec_", r"[A-Za-z0-9+/]{20,}+"),
    _token("npm-token", "npm_", rf"[{_ALNUM}]{{30,}}+"),
    _token("pypi-token", "pypi-", rf"{_LONG}{{40,}}+", credible=_no_css_class),
    _token("huggingface-token", "hf_", rf"[{_ALNUM}]{{30,}}+"),
    _token("sendgrid-key", "SG.", rf"{_LONG}{{16,32}}\.{_LONG}{{16,128}}"),
    _token("twilio-key", "SK", rf"[0-9a-f]{{32}}(?![{_ALNUM}])"),
    *(_token("digitalocean-token", f"do{letter}_v1_", r"[0-9a-f]{40,}+") for letter in "por"),
    # A JWT may not begin anywhere inside a run of its own letters: the run would be read again from each.
    _token("jwt", "eyJ", rf"{_LONG}{{8,}}+\.eyJ{_LONG}{{8,}}+(?:\.{_LONG}*+)?", inside=_WORD),
)
_WEBHOOK = re.compile(r"hooks\.slack\.com/(?:services|workflows)/([\w/-]{20,}+)", re.ASCII)


def provider_tokens(text: str) -> Iterator[Span]:
    """The issued tokens in a text."""
    for kind, prefix, pattern, credible in TOKENS:
        if prefix not in text:
            continue
        for match in pattern.finditer(text):
            if credible(match[1]):
                yield Span(match.start(), match.end(), kind)
    if "hooks.slack.com/" in text:
        for match in _WEBHOOK.finditer(text):
            yield Span(*match.span(1), "slack-webhook")
