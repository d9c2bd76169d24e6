"""A report as text, JSON, JUnit XML or SARIF."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from msgspec import to_builtins

from stenograph.check.checking import Report, Violation
from stenograph.check.rule import Rule
from stenograph.render.control_chars import on_one_line
from stenograph.version import __version__

FORMS = ("text", "json", "junit", "sarif")
SARIF_RESULTS = 25_000
"""Results of one SARIF run that code hosts accept; the rest goes into further runs."""
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_text(report: Report) -> str:
    """One line per violation, then one line about what was examined."""
    lines = [f"{each.rule}: {each.level}: {_place(each)}: {each.message}" for each in report.violations]
    lines += [f"{each.rule}: does not run: {each.reason}" for each in report.broken]
    return "".join(f"{on_one_line(line)}\n" for line in [*lines, summary(report)])


def summary(report: Report) -> str:
    """What was examined and what was found, in one line."""
    errors = sum(each.level == "error" for each in report.violations)
    counts = (
        f"{_counted(len(report.rules), 'rule')} over {_counted(report.runs, 'run')} with "
        f"{_counted(report.calls, 'tool call')}: {_counted(errors, 'error')}, "
        f"{_counted(len(report.violations) - errors, 'warning')}, {_counted(len(report.broken), 'broken rule')}"
    )
    if report.has_enough_runs:
        return counts
    return f"{counts}; fewer than {_counted(report.required_runs, 'run')}, so nothing is proved (--require-runs)"


def as_json(report: Report) -> bytes:
    """One JSON document."""
    document = {
        "exit_code": report.exit_code,
        "runs": report.runs,
        "calls": report.calls,
        "rules": [rule.id for rule in report.rules],
        "violations": to_builtins(report.violations),
        "broken": to_builtins(report.broken),
    }
    return _document(document)


def as_junit(report: Report) -> bytes:
    """A test case per rule: violations of level error are its failure, warnings its output, a broken rule an error."""
    broken = {each.rule: each.reason for each in report.broken}
    cases = "".join(_case(rule, report.of(rule), broken.get(rule.id)) for rule in report.rules)
    failures = sum(rule.level == "error" and bool(report.of(rule)) for rule in report.rules)
    tests, errors = len(report.rules), len(broken)
    if not report.has_enough_runs:
        cases += _test_case("enough-runs", f"<error message={_attribute(summary(report))}/>")
        tests, errors = tests + 1, errors + 1
    counts = f'tests="{tests}" failures="{failures}" errors="{errors}" skipped="0"'
    document = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {counts}>\n'
        f'<testsuite name="steno check" {counts}>\n{cases}</testsuite>\n</testsuites>\n'
    )
    return document.encode()


def _case(rule: Rule, violations: list[Violation], reason: str | None) -> str:
    if reason is not None:
        return _test_case(rule.id, f"<error message={_attribute(reason)}/>")
    if not violations:
        return _test_case(rule.id, "")
    text = escape(_xml("\n".join(f"{_place(each)}: {each.message}" for each in violations)))
    if rule.level == "warning":
        return _test_case(rule.id, f"<system-out>{text}</system-out>")
    message = _attribute(f"{_counted(len(violations), 'violation')} of {rule.id}")
    return _test_case(rule.id, f"<failure message={message}>{text}</failure>")


def _test_case(name: str, inside: str) -> str:
    return f'<testcase classname="steno.check" name={_attribute(name)}>{inside}</testcase>\n'


def _attribute(text: str) -> str:
    return quoteattr(_xml(text))


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def as_sarif(report: Report) -> bytes:
    """SARIF 2.1.0; a location names the run and the event, since transcripts are not files of the repository."""
    numbers = {rule.id: number for number, rule in enumerate(report.rules)}
    results = [_result(each, numbers[each.rule]) for each in report.violations]
    parts = [results[at : at + SARIF_RESULTS] for at in range(0, len(results), SARIF_RESULTS)] or [[]]
    notifications = [
        {"level": "error", "message": {"text": each.reason}, "associatedRule": {"id": each.rule}}
        for each in report.broken
    ]
    if not report.has_enough_runs:
        notifications.append({"level": "error", "message": {"text": summary(report)}})
    driver = {
        "name": "stenograph",
        "version": __version__,
        "rules": [
            {
                "id": rule.id,
                "shortDescription": {"text": rule.message},
                "defaultConfiguration": {"level": rule.level},
            }
            for rule in report.rules
        ],
    }
    invocation = {"executionSuccessful": not notifications, "toolExecutionNotifications": notifications}
    runs = [{"tool": {"driver": driver}, "invocations": [invocation], "results": part} for part in parts]
    return _document({"$schema": _SCHEMA, "version": "2.1.0", "runs": runs})


def _result(violation: Violation, number: int) -> dict[str, Any]:
    place = f"{violation.rule}\0{violation.run_id}\0{violation.seq}"
    return {
        "ruleId": violation.rule,
        "ruleIndex": number,
        "level": violation.level,
        "message": {"text": violation.message},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": f"{violation.run_id}.jsonl"},
                    "region": {"startLine": max(1, violation.seq)},
                },
                "logicalLocations": [{"fullyQualifiedName": _place(violation), "name": violation.name}],
            }
        ],
        "partialFingerprints": {"stenograph/v1": sha256(place.encode()).hexdigest()},
    }


def _document(value: dict[str, Any]) -> bytes:
    return json.dumps(value, indent=1).encode() + b"\n"


def _place(violation: Violation) -> str:
    return f"{violation.run_id}#{violation.seq}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
