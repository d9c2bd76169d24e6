"""Everything in ../shared, compared with an independent count.

`tests/oracle/<format>.py` counts with nothing but `json`, on purpose naively. Here every file that a format claims is
converted and compared with its counter; the table that is printed is what `make corpus` is for.
"""

from __future__ import annotations

import importlib.util
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from stenograph.formats.base import Context, FormatSpec, Report
from stenograph.formats.registry import HEAD_BYTES, detect, formats
from stenograph.model import Event, MessagePayload, TextBlock, ThinkingBlock, ToolPayload, UsagePayload

REPO = Path(__file__).parents[2]
SHARED = REPO.parent / "shared"
pytestmark = pytest.mark.corpus

FOREIGN = {
    "atif", "chatgpt-export", "claude-web-export", "claude-web-session", "cursor-transcript", "inspect-eval",
    "openhands-events", "pi-session", "q-kiro-json", "swe-agent-traj", "opencode-storage",
}  # fmt: skip
"""Folders of the corpus that no format of ours reads (with `other-*`)."""


def test_the_wire_examples_are_those_of_the_shared_folder() -> None:
    """Our copy holds every shared example, unchanged and in order; we may add to it."""
    shared = (SHARED / "wire_examples.jsonl").read_bytes().splitlines()
    ours = (REPO / "tests" / "contracts" / "wire_examples.jsonl").read_bytes().splitlines()
    assert ours[: len(shared)] == shared


def _files() -> list[Path]:
    found = [path for name in ("captures", "corpus") for path in sorted((SHARED / name).rglob("*.json*"))]
    return [path for path in found if path.is_file() and not path.name.endswith(".meta.json")]


def _parsed(spec: FormatSpec, path: Path) -> tuple[list[Event], Report]:
    parser = spec.open(Context(run_id="550e8400-e29b-41d4-a716-446655440000"))
    events = parser.feed(path.read_bytes())
    return events + parser.finish(), parser.report


def _count(events: list[Event], report: Report) -> dict[str, Any]:
    """What a conversion holds, in the counter's terms."""
    counted: dict[str, Any] = {
        "tool_uses": {}, "tool_results": {}, "failed_results": {}, "text": [], "thinking": [], "output_tokens": {},
        "lines": report.lines - len(report.blank_lines),
    }  # fmt: skip
    for event in events:
        payload = event.payload
        if event.type == "message.assistant" and isinstance(payload, MessagePayload):
            counted["text"] += [block.text for block in payload.blocks if isinstance(block, TextBlock)]
            counted["thinking"] += [block.thinking for block in payload.blocks if isinstance(block, ThinkingBlock)]
        elif event.type == "tool.call" and isinstance(payload, ToolPayload):
            counted["tool_uses"].setdefault(payload.call_id)
        elif event.type == "tool.result" and isinstance(payload, ToolPayload):
            counted["tool_results"].setdefault(payload.call_id)
            if payload.error is not None:
                counted["failed_results"].setdefault(payload.call_id)
        elif event.type == "token.usage" and isinstance(payload, UsagePayload) and payload.message_id:
            counted["output_tokens"][payload.message_id] = payload.output_tokens
    for name in ("tool_uses", "tool_results", "failed_results"):
        counted[name] = list(counted[name])
    counted["text"], counted["thinking"] = "".join(counted["text"]), "".join(counted["thinking"])
    return counted


def _oracle(name: str) -> Any:
    path = REPO / "tests" / "oracle" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"oracle_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _lines_without_event(events: list[Event], report: Report, data: bytes) -> int:
    named = {event.origin.line for event in events if event.origin is not None}
    full = {number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()}
    return max(0, len(full - named) - report.accumulated)


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
        events, report = _parsed(spec, path)
        row = table[spec.name]
        ours, theirs = _count(events, report), _oracle(spec.name).count(path)
        named = str(path.relative_to(SHARED))
        explained = named in (REPO / "docs" / "formats" / f"{spec.name}.md").read_text("utf-8")
        wrong = [key for key, value in ours.items() if key in theirs and theirs[key] != value]
        differences += [
            f"{spec.name}: {named}: {key}: {_short(ours[key])} != {_short(theirs[key])}"
            for key in wrong
            if not explained
        ]
        without = _lines_without_event(events, report, data)
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
                found = detect(path.read_bytes()[:HEAD_BYTES], str(path))
                if found is not None:
                    misread[str(path.relative_to(SHARED))] = found.name
    assert misread == {}


def test_every_format_with_files_has_its_counter() -> None:
    """No format is compared with nothing."""
    names = [name for name in formats() if name != "exchange"]
    assert [name for name in names if not (REPO / "tests" / "oracle" / f"{name}.py").exists()] == []
