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
_RARE = "@XJKGzx"
"""Letters that much text lacks; looking for one is many times faster than looking for a word."""


class Token(NamedTuple):
    """One shape of token."""

    kind: str
    literal: str
    """Stands in every such token, so that a substring search rules most texts out."""
    rare: str
    """The least common letter of the literal."""
    pattern: re.Pattern[str]
    """All that it matches is secret; group 1 is what follows the prefix."""
    hint: re.Pattern[str]
    """What every such token begins with."""
    credible: Callable[[str], bool]


def _edge(prefix: str, inside: str) -> str:
    """An assertion, for right behind the prefix, that the prefix did not begin inside a word; none for clear ones.

    Behind and not before it, because a pattern that begins with its literal is searched many times faster. The
    letters that end an escape (`\\n`, `\\u001b`, `%20`, a terminal colour) are no part of the word they precede.
    """
    if not inside:
        return ""
    ends = r"\\[nrtbf]", r"\\u[0-9a-fA-F]{4}", r"%[0-9a-fA-F]{2}", r"\[\dm", r"\[\d\dm", r"\[\d;\d\dm"
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
    literal: str | None = None,
    inside: str = _ALNUM,
    credible: Callable[[str], bool] = _not_blanked,
) -> Token:
    """A token of a prefix (of fixed width) and a body; `inside` are the letters that it may not follow, if any."""
    literal = prefix.replace("\\", "") if literal is None else literal
    rare = next((letter for letter in _RARE if letter in literal), literal[0])
    start = prefix + _edge(prefix, inside)
    begins = "[0-9a-f]{8}" if body.startswith("[0-9a-f]") else r"[\w-]{8}"
    return Token(
        kind,
        literal,
        rare,
        re.compile(f"{start}({body})", re.ASCII),
        re.compile(start + begins, re.ASCII),
        credible,
    )


_LONG = rf"[{_WORD}]"
TOKENS: tuple[Token, ...] = (
    _token("anthropic-key", "sk-ant-", rf"{_LONG}{{16,}}+", inside=""),
    _token("openrouter-key", "sk-or-", rf"{_LONG}{{20,}}+"),
    _token("openai-key", "sk-", rf"{_LONG}{{20,}}+", credible=_no_css_class),
    _token("aws-access-key", "AKIA", rf"[A-Z0-9]{{16}}(?![{_ALNUM}])"),
    _token("aws-access-key", "ASIA", rf"[A-Z0-9]{{16}}(?![{_ALNUM}])"),
    _token("google-key", "AIza", rf"{_LONG}{{35,}}+"),
    _token("google-client-secret", "GOCSPX-", rf"{_LONG}{{20,}}+", inside=""),
    _token("github-token", "gh[pousr]_", r"\w{30,}+", literal="gh"),
    _token("github-token", "github_pat_", r"\w{22,}+", inside=""),
    _token("gitlab-token", "glpat-", rf"{_LONG}{{20,}}+", inside=""),
    _token("slack-token", "xox[abprs]-", rf"{_LONG}{{10,}}+", literal="xox", inside=""),
    _token("stripe-key", "[sr]k_live_", r"\w{10,}+", literal="k_live_", inside=""),
    _token("stripe-key", "[sr]k_test_", r"\w{10,}+", literal="k_test_", inside=""),
    _token("npm-token", "npm_", rf"[{_ALNUM}]{{30,}}+"),
    _token("pypi-token", "pypi-", rf"{_LONG}{{40,}}+", credible=_no_css_class),
    _token("huggingface-token", "hf_", rf"[{_ALNUM}]{{30,}}+"),
    _token("sendgrid-key", r"SG\.", rf"{_LONG}{{16,32}}\.{_LONG}{{16,128}}"),
    _token("twilio-key", "SK", rf"[0-9a-f]{{32}}(?![{_ALNUM}])"),
    _token("digitalocean-token", "do[opr]_v1_", r"[0-9a-f]{40,}+", literal="_v1_", inside=""),
    # A JWT may not begin anywhere inside a run of its own letters: the run would be read again from each.
    _token("jwt", "eyJ", rf"{_LONG}{{8,}}+\.eyJ{_LONG}{{8,}}+(?:\.{_LONG}*+)?", inside=_WORD),
)
_WEBHOOK = re.compile(r"hooks\.slack\.com/(?:services|workflows)/([\w/-]{20,}+)", re.ASCII)


def provider_tokens(text: str) -> Iterator[Span]:
    """The issued tokens in a text."""
    for token in TOKENS:
        if token.rare in text and token.literal in text:
            for match in token.pattern.finditer(text):
                if token.credible(match[1]):
                    yield Span(*match.span(), token.kind)
    if "hooks.slack.com/" in text:
        for match in _WEBHOOK.finditer(text):
            yield Span(*match.span(1), "slack-webhook")
