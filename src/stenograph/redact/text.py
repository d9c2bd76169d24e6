"""Masks one text of any kind: prose, code, or JSON with texts inside."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from stenograph.redact import judge
from stenograph.redact.assignment import assignments
from stenograph.redact.base64_text import holds_packed, packed_secrets
from stenograph.redact.call import call_secrets
from stenograph.redact.columns import column_secrets
from stenograph.redact.command import argument_secrets, command_secrets
from stenograph.redact.file_line import file_secrets, manifest_secrets
from stenograph.redact.header import bearer_tokens, parts_of, scheme_end
from stenograph.redact.hint import may_hold_secret
from stenograph.redact.known import KnownSecrets
from stenograph.redact.literal import (
    decoded,
    in_source,
    is_json,
    letter_of,
    literals,
    spelled_out,
    string_lists,
    to_source,
)
from stenograph.redact.markup import markup_secrets
from stenograph.redact.memory import Memory
from stenograph.redact.name import Grade, Secret, is_identifier, looks_random, secret_of
from stenograph.redact.name_value import labelled, pairs
from stenograph.redact.pem import private_keys
from stenograph.redact.phrase import said_secrets
from stenograph.redact.rules import Rules, built_in
from stenograph.redact.span import Span, cut, merge
from stenograph.redact.sql import sql_secrets
from stenograph.redact.url import url_secrets
from stenograph.redact.user_rules import UserRules

_PASSES = 8
"""A mark can uncover another secret, next to which there were letters before; two passes are common, three rare."""

_JSON_LINE = re.compile(r"^[ \t]*+[{\[].*[}\]][ \t\r]*$", re.MULTILINE)
_LONGEST_NAME = 100
"""Longer keys are not names of fields, and judgments about names are cached."""


class TextMask:
    """Masks texts: secrets by their shape and name, and those that are `known`."""

    def __init__(
        self,
        known: KnownSecrets | None = None,
        *,
        keeps_ids: bool = True,
        own: UserRules | None = None,
        memory: Memory | None = None,
    ) -> None:
        """`keeps_ids` leaves fields alone that join records, whatever they hold.

        `own` are the rules, names and exceptions of a user. `memory` stores what is found, so that it is found
        everywhere from then on, also without its name.
        """
        self._own = own or UserRules()
        self.rules = self._own.rules
        self.memory = memory
        self.counts: Counter[str] | None = None
        """Counts what is masked, by rule, where a counter is set."""
        self._known = known or KnownSecrets()
        self._keeps_ids = keeps_ids

    def text(self, text: str) -> str:
        """The text with `[masked:<kind>]` in place of every secret found; masking it again changes nothing."""
        return self.value(None, text)

    def value(self, name: str | None, text: str, label: str | None = None) -> str:
        """The text with its secrets masked, given its key, and its name in a pair."""
        for _ in range(_PASSES):
            spans = self.find(name, text)
            if label is not None:
                spans = merge((*spans, *labelled(label, text)))
            if not spans:
                break
            text = self.cut(text, spans)
        return text

    def cut(self, text: str, spans: list[Span]) -> str:
        """The text with marks in place of spans, which are counted and remembered."""
        if self.counts is not None:
            self.counts.update(span.kind for span in spans)
        if self.memory is not None:
            self.memory.learn(text, spans)
        return cut(text, spans)

    def without_tokens(self, text: str) -> str:
        """A text that people do not read, such as a signature, without issued tokens and known secrets; for readers."""
        if self._keeps_ids:
            return text
        found = ((self.rules or built_in()).finds(text), self._known.spans(text))
        return cut(text, merge(chain.from_iterable(found)))

    def may_hold_secret(self, text: str) -> bool:
        """Whether a text is worth searching for secrets."""
        return (
            may_hold_secret(text, self.rules)
            or self._known.are_in(text)
            or (self.memory is not None and self.memory.may_find(text))
            or self._own.may_find(text)
            or holds_packed(text, self.may_hold_secret)
        )

    def promise(self, name: str | None) -> Secret | None:
        """What the key of a value says about its secrecy."""
        return self._own.promise(name) or _promise(name)

    def find(self, name: str | None, text: str) -> list[Span]:
        """The secrets in a text, in order and disjoint."""
        if self._keeps_ids and name is not None and len(name) <= _LONGEST_NAME and is_identifier(name):
            return []
        secret = self.promise(name)
        named = _named(secret, text) if secret else []
        if self.may_hold_secret(text):
            if is_json(text):
                return self._own.without_kept(text, merge((*self._in_json(text), *named)))
            named = merge((*self._in_text(text), *named))
        found = self._own.without_kept(text, named)
        if self.memory is not None and found:
            self.memory.learn(text, found)
        return found

    def _in_text(self, text: str) -> Iterator[Span]:
        yield from self._spans(text)
        if "\\" in text:
            yield from self._in_json_lines(text)
        yield from packed_secrets(text, lambda content: self.find(None, content))
        if "\\u00" in text:
            letters = spelled_out(text)
            if len(letters) < len(text):
                yield from to_source(letters, 0, merge(self._spans("".join(map(letter_of, letters)))))

    def _spans(self, text: str) -> Iterator[Span]:
        yield from in_text(text, self.rules)
        yield from self._known.spans(text)
        yield from self._own.spans(text)
        if self.memory is not None:
            yield from self.memory.spans(text)

    def _in_json_lines(self, text: str) -> Iterator[Span]:
        """What is found in the strings of lines of JSON, as in a log: there a line end is an escape."""
        for line in _JSON_LINE.finditer(text):
            if "\\" in line[0] and is_json(line[0]):
                yield from (
                    span._replace(start=span.start + line.start(), end=span.end + line.start())
                    for span in self._in_json(line[0])
                )

    def _in_json(self, text: str) -> Iterator[Span]:
        """What is found in each string of JSON text, so that only the inside of strings can change."""
        for start, end, name, label, is_number in literals(text):
            inner = text[start:end]
            if is_number:
                kind = number_kind(self.promise(name), inner)
                yield from [Span(start, end, kind, is_number=True)] if kind else []
            elif label is not None:
                yield from in_source(inner, start, list(labelled(label, decoded(inner))))
            elif self.promise(name) or self.may_hold_secret(decoded(inner) if "\\u" in inner else inner):
                yield from in_source(inner, start, self.find(name, decoded(inner)))
        yield from manifest_secrets(text)
        for strings in string_lists(text):
            items = [decoded(text[start:end]) for start, end in strings]
            for number, spans in argument_secrets(items).items():
                start, end = strings[number]
                yield from in_source(text[start:end], start, spans)


_PLAIN = TextMask()


def mask_text(text: str) -> str:
    """The text with `[masked:<kind>]` in place of every secret found; masking it again changes nothing."""
    return _PLAIN.text(text)


def mask_value(name: str | None, text: str) -> str:
    """The text with its secrets masked, given its key."""
    return _PLAIN.value(name, text)


def _promise(name: str | None) -> Secret | None:
    """What the key of a text says about its secrecy."""
    return secret_of(name) if name is not None and len(name) <= _LONGEST_NAME else None


def _named(secret: Secret, text: str) -> list[Span]:
    """The secret parts of a text that is the value of a secret name."""
    start = scheme_end(text, 0, len(text)) if secret.kind == "authorization" else 0
    value = text[start:]
    if judge.is_placeholder(value):
        return []
    if secret.grade <= Grade.WEAK:
        believed = looks_random(value, secret)
    elif secret.grade is Grade.FAIR or (secret.kind == "cookie" and "=" not in value):
        is_label = judge.is_path(value) or (secret.kind != "token" and judge.is_words(value))
        believed = len(value) >= 6 and " " not in value and not is_label
    else:
        believed = True
    believed = believed and (secret.kind == "password" or not judge.is_version(value))
    return parts_of(secret.kind, text, 0, len(text)) if believed else []


def number_kind(secret: Secret | None, digits: str) -> str | None:
    """The kind of a number under a key, if the key calls it a password or a secret and it is long enough to be one."""
    if secret is None or secret.grade is not Grade.SURE:
        return None
    shortest = {"password": 4, "secret": 6}.get(secret.kind)
    return secret.kind if shortest is not None and len(digits) >= shortest else None


def in_text(text: str, rules: Rules | None = None) -> Iterator[Span]:
    """What the rules find; the first rules are the most specific."""
    small = _small_letters(text)
    yield from (rules or built_in()).finds(text)
    yield from private_keys(text)
    yield from url_secrets(text)
    yield from command_secrets(text)
    yield from assignments(text, small)
    yield from pairs(text, small)
    yield from bearer_tokens(text, small)
    yield from markup_secrets(text, small)
    yield from sql_secrets(text, small)
    yield from call_secrets(text)
    yield from file_secrets(text)
    yield from column_secrets(text)
    yield from said_secrets(text, small)


def _small_letters(text: str) -> str:
    """The text in small letters, each at its place; İ alone would become two."""
    small = text.lower()
    return small if len(small) == len(text) else text.replace("İ", "I").lower()
