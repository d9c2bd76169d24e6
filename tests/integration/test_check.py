"""`steno check` as CI uses it: exit codes, forms, and that nothing broken is green."""

from __future__ import annotations

import json
import re
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from archive_cases import SESSION, THREAD, claude_line, codex_line, session_path, synced, thread_path, written
from here import steno_here

RM = "SELECT run_id, seq, timestamp, 'shell' AS name, command FROM commands WHERE command LIKE 'rm %'"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A session with one command that a rule may forbid, and a thread without any."""
    lines = [claude_line(1), claude_line(2, "call", "rm -rf <build> & 'x' \x01"), claude_line(3, "result", "ok")]
    written(session_path(tmp_path / "home"), *lines)
    written(thread_path(tmp_path / "home"), codex_line(0), codex_line(1))
    synced(tmp_path / "home", tmp_path / "archive")
    return tmp_path / "archive"


def _rules(tmp_path: Path, **rules: tuple[str, str, str]) -> str:
    path = tmp_path / "rules.toml"
    tables = [
        f"[{name}]\nlevel = {json.dumps(level)}\nmessage = {json.dumps(message)}\nsql = {json.dumps(sql)}\n"
        for name, (level, message, sql) in rules.items()
    ]
    path.write_text("\n".join(tables))
    return str(path)


def _check(archive: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = steno_here("check", "--archive", archive, *arguments)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_errors_fail_and_warnings_do_not(archive: Path, tmp_path: Path) -> None:
    """Exit code 1 for a row of level error, 0 for warnings only and for none; columns fill the message."""
    done = _check(archive, _rules(tmp_path, no_rm=("error", "removed: {command}", RM)))
    assert done.returncode == 1, done.stderr
    assert re.search(rf"no_rm: error: {SESSION}#\d+: removed: rm -rf <build>", done.stdout)
    assert "1 rule over 2 runs with 1 tool call: 1 error, 0 warnings, 0 broken rules" in done.stdout
    assert _check(archive, _rules(tmp_path, no_rm=("warning", "{command}", RM))).returncode == 0
    assert _check(archive, _rules(tmp_path, none=("error", "x", RM + " AND 0"))).returncode == 0


@pytest.mark.parametrize(
    ("message", "sql"),
    [
        ("x", "SELEC 1"),
        ("x", "SELECT * FROM nonsense"),
        ("x", "SELECT 1 AS run_id"),
        ("{missing}", RM),
        ("x", "DELETE FROM runs"),
        ("x", "SELECT 'other' AS run_id, 1 AS seq, '' AS timestamp, '' AS name"),
        ("x", "SELECT run_id, 'one' AS seq, '' AS timestamp, '' AS name FROM runs"),
        ("x", "SELECT run_id, 1 AS seq, '' AS timestamp, '' AS name FROM runs WHERE run_id REGEXP '('"),
    ],
)
def test_a_rule_that_does_not_run_is_not_green(archive: Path, tmp_path: Path, message: str, sql: str) -> None:
    """Exit code 3, the rule is named, and the other rules run."""
    rules = _rules(tmp_path, broken=("warning", message, sql), good=("warning", "{command}", RM))
    done = _check(archive, rules)
    assert done.returncode == 3, done.stdout
    assert "broken: does not run: " in done.stdout
    assert "good: warning: " in done.stdout


@pytest.mark.parametrize(
    "text", ["", "[", "x = 1", "[a]\nlevel='error'\nmessage='m'", "[a]\nlevel='bad'\nmessage='m'\nsql='s'",
             "[a]\nlevel='error'\nmessage='m'\nsql='s'\nseverity='high'"],
)  # fmt: skip
def test_a_file_with_a_mistake_is_not_green(archive: Path, tmp_path: Path, text: str) -> None:
    """One line that names the file, exit code 3."""
    path = tmp_path / "bad.toml"
    path.write_text(text)
    done = _check(archive, str(path))
    assert (done.returncode, len(done.stderr.splitlines())) == (3, 1)
    assert "bad.toml" in done.stderr


def test_an_empty_archive_is_not_green(archive: Path, tmp_path: Path) -> None:
    """No archive, no run in the period, and fewer runs than required are exit code 3, unless none is required."""
    rules = _rules(tmp_path, no_rm=("error", "{command}", RM))
    assert _check(tmp_path / "nowhere", rules).returncode == 3
    assert _check(archive, rules, "--since", "1h").returncode == 3
    assert _check(archive, rules, "--since", "1h", "--require-runs", "0").returncode == 0
    assert _check(archive, rules, "--agent", "codex").returncode == 0
    assert _check(archive, rules, "--agent", "codex", "--require-runs", "2").returncode == 3


def test_only_the_runs_that_are_meant_count(archive: Path, tmp_path: Path) -> None:
    """By --run or by filters; not both."""
    rules = _rules(tmp_path, no_rm=("error", "{command}", RM))
    assert _check(archive, rules, "--run", SESSION[:8]).returncode == 1
    assert _check(archive, rules, "--run", THREAD).returncode == 0
    assert _check(archive, rules, "--run", SESSION, "--agent", "codex").returncode == 2
    assert _check(archive, rules, "--run", "ffffffff").returncode == 3


def test_wrong_usage(archive: Path, tmp_path: Path) -> None:
    """No rules at all, an unknown built-in one, and two of one name."""
    rules = _rules(tmp_path, **{"network-tool": ("error", "{command}", RM)})
    assert _check(archive).returncode == 2
    assert _check(archive, "--builtin", "nonsense").returncode == 2
    assert _check(archive, rules, "--builtin", "network-tool").returncode == 2
    assert "[network-tool]" in _check(archive, "--list").stdout


def test_json_has_everything(archive: Path, tmp_path: Path) -> None:
    """Violations, broken rules, and what was examined, in a file, too."""
    rules = _rules(tmp_path, no_rm=("error", "{command}", RM), bad=("error", "x", "SELEC"))
    done = _check(archive, rules, "--json", "-o", str(tmp_path / "out.json"))
    told = json.loads((tmp_path / "out.json").read_text())
    assert (done.returncode, told["exit_code"], told["runs"], told["calls"]) == (3, 3, 2, 1)
    assert [each["rule"] for each in told["violations"]] == ["no_rm"]
    assert [each["rule"] for each in told["broken"]] == ["bad"]
    assert "1 broken rule" in done.stderr


def test_junit_is_a_test_case_per_rule(archive: Path, tmp_path: Path) -> None:
    """Failures, errors and passes by an XML parser; characters that XML cannot hold do not break it."""
    rules = _rules(
        tmp_path,
        no_rm=("error", "{command}", RM),
        warned=("warning", "{command}", RM),
        none=("error", "x", RM + " AND 0"),
        bad=("error", "x", "SELEC"),
    )
    suites = ET.fromstring(_check(archive, rules, "--format", "junit").stdout)
    (suite,) = suites
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "4", "failures": "1", "errors": "1",
    }  # fmt: skip
    inside = {case.get("name"): [child.tag for child in case] for case in suite}
    assert inside == {"no_rm": ["failure"], "warned": ["system-out"], "none": [], "bad": ["error"]}
    assert "rm -rf <build> & 'x'" in (suite[0][0].text or "")


def test_junitparser_reads_it(archive: Path, tmp_path: Path) -> None:
    """The same by a reader that CI tools use."""
    junitparser = pytest.importorskip("junitparser")
    rules = _rules(tmp_path, no_rm=("error", "{command}", RM), bad=("error", "x", "SELEC"))
    _check(archive, rules, "--format", "junit", "-o", str(tmp_path / "out.xml"))
    told = junitparser.JUnitXml.fromfile(str(tmp_path / "out.xml"))
    assert (told.tests, told.failures, told.errors) == (2, 1, 1)


def _assert_sarif(document: dict[str, Any]) -> None:
    """The structure that SARIF 2.1.0 asks for, as far as we use it."""
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-2.1.0.json")
    for run in document["runs"]:
        rules = run["tool"]["driver"]["rules"]
        assert run["tool"]["driver"]["name"] == "stenograph"
        assert len({rule["id"] for rule in rules}) == len(rules)
        for rule in rules:
            assert rule["shortDescription"]["text"]
            assert rule["defaultConfiguration"]["level"] in ("error", "warning")
        for invocation in run["invocations"]:
            assert isinstance(invocation["executionSuccessful"], bool)
            for each in invocation["toolExecutionNotifications"]:
                assert each["message"]["text"]
        assert len(run["results"]) <= 25_000
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["level"] in ("error", "warning")
            assert isinstance(result["message"]["text"], str)
            assert re.fullmatch(r"[0-9a-f]{64}", result["partialFingerprints"]["stenograph/v1"])
            (location,) = result["locations"]
            assert location["physicalLocation"]["region"]["startLine"] >= 1
            assert location["physicalLocation"]["artifactLocation"]["uri"]


def test_sarif_has_its_structure(archive: Path, tmp_path: Path) -> None:
    """Results with rules, places and fingerprints; a broken rule is a notification of a run that did not succeed."""
    rules = _rules(tmp_path, no_rm=("error", "{command}", RM), bad=("error", "x", "SELEC"))
    told = json.loads(_check(archive, rules, "--format", "sarif").stdout)
    _assert_sarif(told)
    (run,) = told["runs"]
    assert run["invocations"][0]["executionSuccessful"] is False
    assert [each["associatedRule"]["id"] for each in run["invocations"][0]["toolExecutionNotifications"]] == ["bad"]


def test_25001_rows_are_all_told(archive: Path, tmp_path: Path) -> None:
    """Code hosts take 25,000 results of a run, so there are two; JSON and JUnit have all of them."""
    sql = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25001) "
        "SELECT run_id, i AS seq, '' AS timestamp, 'x' AS name FROM n JOIN runs ON runs.agent LIKE 'claude%'"
    )
    rules = _rules(tmp_path, many=("error", "row", sql))
    sarif = json.loads(_check(archive, rules, "--format", "sarif").stdout)
    _assert_sarif(sarif)
    assert [len(run["results"]) for run in sarif["runs"]] == [25_000, 1]
    assert len(json.loads(_check(archive, rules, "--json").stdout)["violations"]) == 25_001
