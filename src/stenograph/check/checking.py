"""Runs rules over an archive.

A rule that does not run must not look like a rule without violations. So if its rows cannot be read or its message
cannot be filled in, the rule is broken, and the check fails.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from stenograph.check.rule import Rule
from stenograph.errors import InvalidQuery
from stenograph.query.sql import Limits, Result, run_sql
from stenograph.runs.archive import Archive, Filters, views

if TYPE_CHECKING:
    from stenograph.runs.mask import RunMask

NEEDED = ("run_id", "seq", "timestamp", "name")
"""Columns that the rows of every rule must have."""
_FIELD = re.compile(r"\{(\w+)\}")
_PATTERNS = 256
"""How many compiled patterns are kept."""


class Violation(Struct, frozen=True, kw_only=True):
    """One row of a rule; texts are masked."""

    rule: str
    level: str
    message: str
    run_id: str
    seq: int
    timestamp: str | None
    name: str


class Broken(Struct, frozen=True, kw_only=True):
    """A rule that did not run."""

    rule: str
    reason: str


class Report(Struct, frozen=True, kw_only=True):
    """What a check found."""

    rules: tuple[Rule, ...]
    violations: tuple[Violation, ...]
    broken: tuple[Broken, ...]
    runs: int
    """How many runs were examined."""
    calls: int
    """How many tool calls they have."""
    required_runs: int = 1

    @property
    def has_enough_runs(self) -> bool:
        """Whether enough runs were examined."""
        return self.runs >= self.required_runs

    @property
    def exit_code(self) -> int:
        """3 when something could not be checked, 1 for violations of level error, else 0."""
        if self.broken or not self.has_enough_runs:
            return 3
        return int(any(violation.level == "error" for violation in self.violations))

    def of(self, rule: Rule) -> list[Violation]:
        """The violations of one rule."""
        return [violation for violation in self.violations if violation.rule == rule.id]


def check(
    archive: Archive,
    rules: Sequence[Rule],
    filters: Filters,
    *,
    run: str | None = None,
    required_runs: int = 1,
    seconds: float = 300.0,
    mask: RunMask,
) -> Report:
    """Run the rules; only rows of the runs in scope count. Raises `RunNotFound` where there is no archive."""
    everything = {info.run_id for info in archive.runs()}
    infos = [_info_of(archive, run)] if run is not None else archive.runs(**filters)
    selected = {info.run_id for info in infos}
    violations: list[Violation] = []
    broken: list[Broken] = []
    limits = Limits(rows=None, seconds=seconds)
    secrets = _secrets()
    for rule in rules:
        with views(archive) as connection:
            _add_functions(connection, secrets)
            try:
                rows = run_sql(connection, rule.sql, limits, only_views=True)
                violations += _violations(rule, rows, selected, everything, mask)
            except InvalidQuery as error:
                broken.append(Broken(rule=rule.id, reason=str(error)))
    return Report(
        rules=tuple(rules),
        violations=tuple(violations),
        broken=tuple(broken),
        runs=len(selected),
        calls=sum(info.tool_calls for info in infos),
        required_runs=required_runs,
    )


def _info_of(archive: Archive, run: str) -> Any:
    with archive.run(run) as reader:
        return reader.info


def _violations(
    rule: Rule, rows: Result, selected: set[str], everything: set[str], mask: RunMask
) -> Iterator[Violation]:
    columns = rows.columns
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise InvalidQuery(f"its rows have no column {missing[0]}; select run_id, seq, timestamp and name")
    unfilled = [name for name in _FIELD.findall(rule.message) if name not in columns]
    if unfilled:
        raise InvalidQuery(f"its message names {{{unfilled[0]}}}, which is not a column; columns: {', '.join(columns)}")
    for values in rows:
        row = dict(zip(columns, values, strict=True))
        if row["run_id"] not in everything:
            raise InvalidQuery(f"it has a row whose run_id, {str(row['run_id'])[:60]!r}, is not a run of the archive")
        if not isinstance(row["seq"], int):
            raise InvalidQuery(f"it has a row whose seq, {str(row['seq'])[:60]!r}, is not a number")
        if row["run_id"] in selected:
            yield _violation(rule, row, mask)


def _violation(rule: Rule, row: dict[str, Any], mask: RunMask) -> Violation:
    message = _FIELD.sub(lambda found: _shown(row[found[1]]), rule.message)
    return Violation(
        rule=rule.id,
        level=rule.level,
        message=mask.text(message),
        run_id=row["run_id"],
        seq=row["seq"],
        timestamp=None if row["timestamp"] is None else str(row["timestamp"]),
        name=mask.text(_shown(row["name"])),
    )


def _shown(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _add_functions(connection: sqlite3.Connection, secrets: Callable[[str | None], str | None]) -> None:
    """`X REGEXP Y` by Python's expressions, and `steno_secrets(text)`: the rules by which a text holds secrets."""
    connection.create_function("regexp", 2, _matches, deterministic=True)
    connection.create_function("steno_secrets", 1, secrets, deterministic=True)


def _matches(pattern: str | None, text: Any) -> bool | None:
    if pattern is None or text is None:
        return None
    return _compiled(pattern).search(_shown(text)) is not None


@lru_cache(_PATTERNS)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _secrets() -> Callable[[str | None], str | None]:
    """The function `steno_secrets`; what may be a secret only because it looks random does not count."""
    from stenograph.bundle.secrets import machine_mask
    from stenograph.redact.scan import sureness_of

    texts = machine_mask().texts

    def secrets(text: str | None) -> str | None:
        spans = [] if text is None else texts.find(None, text)
        found = sorted({span.kind for span in spans if sureness_of(span.kind, texts.rules) != "possible"})
        return ", ".join(found) or None

    return secrets
