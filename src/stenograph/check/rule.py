"""Reads rules, each a TOML table: the built-in ones, and those in files of users."""

from __future__ import annotations

import pkgutil
import re
import tomllib
from pathlib import Path
from typing import Any

from msgspec import Struct

from stenograph.errors import InvalidQuery, SourceError, unreadable

LEVELS = ("error", "warning")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_KEYS = ("level", "message", "sql")


class Rule(Struct, frozen=True, kw_only=True):
    """One rule."""

    id: str
    level: str
    """`error` or `warning`."""
    message: str
    """With `{column}` where a column of the row is filled in."""
    sql: str
    """One SELECT; each row is a violation, and has at least `run_id`, `seq`, `timestamp` and `name`."""


def read_rules(path: str) -> list[Rule]:
    """The rules of a file; raises `SourceError` for a file that cannot be read or has a mistake."""
    try:
        text = Path(path).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not UTF-8 text; give a file of rules in TOML", path) from error
    except OSError as error:
        raise unreadable(path, error) from error
    return _rules(path, text)


def built_in(ids: tuple[str, ...]) -> list[Rule]:
    """The built-in rules with these ids, in the order of their file; `all` is every one. Raises `InvalidQuery`."""
    rules = _rules("the built-in rules", built_in_text())
    known = [rule.id for rule in rules]
    for each in ids:
        if each not in (*known, "all"):
            raise InvalidQuery(f"no built-in rule {each!r}; rules: {', '.join(known)}")
    return [rule for rule in rules if "all" in ids or rule.id in ids]


def built_in_text() -> str:
    """The built-in rules as they are written."""
    return (pkgutil.get_data(__package__, "builtin.toml") or b"").decode()


def _rules(path: str, text: str) -> list[Rule]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SourceError(f"{path} is not TOML: {error}; correct it", path) from error
    if not tables:
        raise SourceError(f"{path} has no rules; give a table for each: [id] with level, message and sql", path)
    return [_rule(path, name, table) for name, table in tables.items()]


def _rule(path: str, id: str, table: Any) -> Rule:
    if not isinstance(table, dict) or not _ID.fullmatch(id):
        raise SourceError(f"{path}: {id!r} is not a rule; give a table: [id] with level, message and sql", path)
    unknown = [key for key in table if key not in _KEYS]
    if unknown:
        raise SourceError(f"{path}: rule {id} has an unknown key {unknown[0]!r}; keys: {', '.join(_KEYS)}", path)
    for key in _KEYS:
        if not isinstance(table.get(key), str) or not table[key].strip():
            raise SourceError(f"{path}: rule {id} needs a text {key}", path)
    if table["level"] not in LEVELS:
        raise SourceError(f"{path}: level {table['level']!r} of rule {id} must be error or warning", path)
    return Rule(id=id, **table)
