"""Everything in ../shared, compared with an independent count.

`tests/oracle/<format>.py` counts with nothing but `json`, on purpose naively. Here every file that a format claims is
converted and compared with its counter; the table that is printed is what `make corpus` is for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from comparison import count, different, lines_without_event, oracle, parsed
from shared_folder import REPO, SHARED
from stenograph.formats.registry import HEAD_BYTES, detect, formats
from stenograph.sources import convert, detect_file

pytestmark = pytest.mark.corpus

FOREIGN = {
    "atif", "chatgpt-export", "claude-web-export", "claude-web-session", "cursor-transcript", "inspect-eval",
    "openhands-events", "pi-session", "q-kiro-json", "swe-agent-traj", "opencode-storage",
}  # fmt: skip
"""Folders of the corpus that no format of ours reads (with `other-*`)."""


def _files() -> list[Path]:
    found = [path for name in ("captures", "corpus") for path in sorted((SHARED / name).rglob("*.json*"))]
    found += sorted((SHARED / "captures").glob("*/*/stdout"))
    return [path for path in found if path.is_file() and not path.name.endswith(".meta.json")]


def test_conversion_agrees_with_an_independent_count(capsys: pytest.CaptureFixture[str]) -> None:
    """Per file: tool ids, failed results, text, thinking, tokens and lines; no difference that is not explained."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    unknown: dict[str, Counter[str]] = defaultdict(Counter)
    differences: list[str] = []
    for path in _files():
        data = path.read_bytes()
        spec = detect(data[:HEAD_BYTES], str(path))
        if spec is None or spec.name == "exchange":
            continue
        events, report = parsed(spec, path)
        row = table[spec.name]
        ours, theirs = count(events, report), oracle(spec.name).count(path)
        named = str(path.relative_to(SHARED))
        explained = named in (REPO / "docs" / "formats" / f"{spec.name}.md").read_text("utf-8")
        wrong = different(ours, theirs)
        differences += [
            f"{spec.name}: {named}: {key}: {_short(ours[key])} != {_short(theirs[key])}"
            for key in wrong
            if not explained
        ]
        without = lines_without_event(events, report, data)
        row.update(
            files=1, lines=ours["lines"], events=len(events), malformed=report.malformed, without_event=without,
            failed=report.failed, dangling=len(set(ours["tool_uses"]) - set(ours["tool_results"])),
            different=len(wrong), explained=len(wrong) if explained else 0,
        )  # fmt: skip
        unknown[spec.name] += report.unknown_types
        if without or report.failed:
            differences.append(
                f"{spec.name}: {named}: {without} lines without an event, {report.failed} broke the mapping"
            )
    with capsys.disabled():
        _print(table, unknown)
    assert not differences, "\n".join(differences[:40]) + f"\n… {len(differences)} in all"
    assert table


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 120 else f"{text[:60]} … {text[-50:]} ({len(text)})"


def _print(table: dict[str, Counter[str]], unknown: dict[str, Counter[str]]) -> None:
    columns = ["files", "lines", "events", "malformed", "without_event", "dangling", "different", "explained"]
    print("\n" + " ".join(f"{name:>13}" for name in ["format", *columns]))
    for name, row in sorted(table.items()):
        print(" ".join([f"{name:>13}"[:18], *(f"{row[column]:>13}" for column in columns)]))
        if unknown[name]:
            print(f"{'':>13} unknown types: {dict(unknown[name])}")


def test_formats_of_others_are_not_misread() -> None:
    """What we do not support is detected as unknown."""
    misread = {}
    for folder in sorted((SHARED / "corpus").iterdir()):
        if folder.name not in FOREIGN and not folder.name.startswith("other-"):
            continue
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                found = detect_file(path).spec
                if found is not None:
                    misread[str(path.relative_to(SHARED))] = found.name
    assert misread == {}


def test_old_gemini_sessions_agree_with_an_independent_count() -> None:
    """One document each instead of lines; they are known for what they are and hold what the counter finds."""
    files = sorted((SHARED / "corpus" / "gemini-chat").rglob("*.json"))
    differences = []
    for path in files:
        conversion = convert(path)
        ours = count(list(conversion), conversion.files[0].report)
        wrong = [key for key in different(ours, oracle("gemini_cli").count(path)) if key != "lines"]
        differences += [f"{path.relative_to(SHARED)}: {key}" for key in wrong]
    assert files
    assert differences == []


def test_every_format_with_files_has_its_counter() -> None:
    """No format is compared with nothing."""
    names = [name for name in formats() if name != "exchange"]
    assert [name for name in names if not (REPO / "tests" / "oracle" / f"{name}.py").exists()] == []
