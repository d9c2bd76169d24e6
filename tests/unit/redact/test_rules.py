"""Rules for issued tokens: every one does what its examples say, and a user's own are checked."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.errors import InvalidRule
from stenograph.redact import mask_text
from stenograph.redact.pattern import check_pattern
from stenograph.redact.rules import Rule, built_in, filled, with_rules_of
from stenograph.redact.text import TextMask
from stenograph.redact.user_rules import UserRules

RULES = built_in().all
OWN = """
[[rule]]
name = "acme-key"
about = "A key of Acme"
keyword = "acme_"
pattern = 'acme_[a-z0-9]{24}'
example = "acme_{b:24}"
counter = "acme_corporation"
"""


def names_of(rules: tuple[Rule, ...]) -> list[str]:
    return [f"{number}-{rule.name}" for number, rule in enumerate(rules)]


@pytest.mark.parametrize("rule", RULES, ids=names_of(RULES))
def test_a_rule_finds_its_example_and_not_its_counter_example(rule: Rule) -> None:
    """Alone, in a sentence and in JSON, the mark has the rule's name; what is too short for one stays."""
    example, counter = filled(rule.example), filled(rule.counter)
    assert [span.kind for span in built_in().finds(example)].count(rule.name) >= 1
    for before, after in (("", ""), ("Use ", " now."), ('{"x": "', '"}'), ("a\\n", "\\nb"), ("(", ")")):
        masked = mask_text(before + example + after)
        assert f"[masked:{rule.name}]" in masked
        assert mask_text(masked) == masked
    assert list(built_in().finds(f"Use {counter} now.")) == []


@pytest.mark.parametrize("rule", RULES, ids=names_of(RULES))
def test_a_rule_says_what_it_is_about(rule: Rule) -> None:
    """Its keyword stands in its example, and its name, pattern and description are there."""
    assert any(keyword in filled(rule.example) for keyword in rule.keywords)
    assert rule.about
    assert rule.counter
    assert re.fullmatch(r"[a-z0-9-]+", rule.name)


def test_there_are_many_rules_and_none_twice() -> None:
    """At least 150 shapes, each pattern once."""
    assert len(RULES) >= 150
    patterns = sorted(rule.pattern for rule in RULES)
    assert all(one != other for one, other in pairwise(patterns))


@pytest.mark.parametrize("rule", RULES, ids=names_of(RULES))
def test_a_row_of_x_is_not_a_token(rule: Rule) -> None:
    """As documents write where a token goes."""
    blank = re.sub(r"\{\w:(\d+)\}", lambda found: "x" * int(found[1]), rule.example)
    assert [span for span in built_in().finds(blank) if span.kind == rule.name] == []


def test_a_rule_of_ones_own_is_found_beside_ours() -> None:
    """In a text, and in JSON inside it."""
    texts = TextMask(own=UserRules(with_rules_of(OWN, "mine.toml")))
    secret = filled("acme_{b:24}")
    assert texts.text(f"use {secret} and ghp_{'aB3dE6' * 6}") == "use [masked:acme-key] and [masked:github-token]"
    assert texts.text(f'{{"a": "{secret}"}}') == '{"a": "[masked:acme-key]"}'
    assert mask_text(secret) == secret


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('name = "acme-key"', 'name = "Acme Key"'), "rule 1: name must be"),
        (('keyword = "acme_"', ""), "rule acme-key: keyword must be"),
        (("counter", "countre"), "unknown key 'countre'"),
        (("[[rule]]", "[[rules]]"), "unknown key 'rules'"),
        (("{24}'", "{24'"), "rule acme-key:"),
        (("[a-z0-9]{24}", "(?:[a-z]+)+x"), "could be slow"),
        (("[a-z0-9]{24}", "[a-z]+[a-z0-9]+x"), "could be slow"),
        (("acme_{b:24}", "acme_{b:9}"), "does not find its example"),
        (("acme_corporation", "acme_{b:24}"), "finds its counter-example"),
        (("[[rule]]", "[[rule"), "mine.toml:"),
        (("pattern =", "pattern = 3 #"), "must be texts"),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused_with_the_reason(change: tuple[str, str], says: str) -> None:
    """One line that names the file and the rule."""
    with pytest.raises(InvalidRule) as raised:
        with_rules_of(OWN.replace(*change), "mine.toml")
    message = str(raised.value)
    assert message.startswith("mine.toml: ")
    assert says in message
    assert "\n" not in message
    assert raised.value.exit_code == 2


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(a|aa)+$",
        r"(?:\w+\s?)*x",
        r"\w+@\w+",
        r"(\w)\1+",
        r".*secret.*",
        r"(?:a{1,64}b?){1,64}c",
        r"(?=(?:a+)+x)a",
    ],
)
def test_a_pattern_that_could_be_slow_is_refused(pattern: str) -> None:
    """Repetitions inside repetitions, two long ones, and references back."""
    with pytest.raises(ValueError, match="could be slow"):
        check_pattern(pattern)


@pytest.mark.parametrize("rule", RULES, ids=names_of(RULES))
def test_our_own_patterns_pass_the_check_for_users(rule: Rule) -> None:
    """Nobody needs a pattern that is slow."""
    check_pattern(rule.pattern)


@given(st.integers(0, 40), st.sampled_from(["é", "漢", "🙂", "\ud800"]))
def test_letters_of_any_size_do_not_move_what_is_found(count: int, letter: str) -> None:
    """The run that a keyword stands in is found behind any script."""
    token = "ghp_" + "aB3dE6" * 6
    assert mask_text(letter * count + token) == letter * count + "[masked:github-token]"
