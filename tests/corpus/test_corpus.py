"""Everything in the shared folder (`make corpus SHARED=DIR`), compared with an independent count.

`tests/oracle/<format>.py` counts with nothing but `json`, on purpose naively. Here every file that a format claims is
converted and compared with its counter; the table that is printed is what `make corpus` is for.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from comparison import count, different, lines_without_event, oracle, parsed
from shared_folder import REPO, SHARED
from stenograph.formats.base import FormatSpec, Report
from stenograph.formats.registry import formats
from stenograph.model import Event
from stenograph.sources import convert, detect_file

pytestmark = pytest.mark.corpus

SUFFIXES = (".json", ".jsonl", ".ndjson", ".log")
UNREAD = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("unread.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
"""Patterns of files that no format reads, each with the reason."""


def _files() -> list[Path]:
    """The transcripts of the folder; of any other folder, everything in it that may be one."""
    tops = [SHARED / name for name in ("captures", "corpus") if (SHARED / name).is_dir()] or [SHARED]
    found = [path for top in tops for path in sorted(top.rglob("*")) if path.is_file()]
    return [path for path in found if path.suffix in SUFFIXES or path.name == "stdout"]


def _reason(named: str) -> str | None:
    """Why a file is not read."""
    return next((reason for pattern, reason in UNREAD if fnmatch(named, pattern)), None)


def _counted(path: Path, spec: FormatSpec, is_document: bool, folder: Path) -> tuple[list[Event], Report, Path]:
    """The events of a file, and the lines that its counter reads: of a document, its records."""
    if not is_document:
        return *parsed(spec, path), path
    records = json.loads(path.read_bytes().decode("utf-8-sig"))
    lines = folder / "document.jsonl"
    written = [json.dumps(each) for each in (records if isinstance(records, list) else [records])]
    lines.write_text("\n".join(written) + "\n", "utf-8")
    conversion = convert(path)
    return list(conversion), conversion.files[0].report, lines


def test_conversion_agrees_with_an_independent_count(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Per file: tool ids, failed results, text, thinking, tokens and lines; no difference that is not explained.

    A file that no format knows is a difference, unless a list says why it is not read.
    """
    table: dict[str, Counter[str]] = defaultdict(Counter)
    unknown: dict[str, Counter[str]] = defaultdict(Counter)
    differences: list[str] = []
    for path in _files():
        found, named = detect_file(path), str(path.relative_to(SHARED))
        if found.spec is None:
            differences += [] if _reason(named) or not path.stat().st_size else [f"{named}: no format knows it"]
            continue
        spec = found.spec
        if spec.name == "exchange":
            continue
        events, report, lines = _counted(path, spec, found.is_document, tmp_path)
        row = table[spec.name]
        ours, theirs = count(events, report), oracle(spec.name).count(lines)
        explained = named in (REPO / "docs" / "formats" / f"{spec.name}.md").read_text("utf-8")
        wrong = different(ours, theirs)
        differences += [
            f"{spec.name}: {named}: {key}: {_short(ours[key])} != {_short(theirs[key])}"
            for key in wrong
            if not explained
        ]
        without = 0 if found.is_document else lines_without_event(events, report, path.read_bytes())
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


SDK = sorted((SHARED / "captures" / "sdk").glob("*.json")) if SHARED.is_dir() else []
API = {"openai_chat": "openai_chat", "litellm": "openai_chat", "openai_responses": "openai_responses"}


@pytest.mark.parametrize("path", SDK, ids=lambda path: path.stem)
def test_answers_of_an_sdk_agree_with_an_independent_count(path: Path, tmp_path: Path) -> None:
    """What a client got, object by object or chunk by chunk: an own run of the format, and of its counter."""
    value = json.loads(path.read_text("utf-8"))
    name = next((format_name for start, format_name in API.items() if path.stem.startswith(start)), None)
    if name is None or not isinstance(value, dict) or "responses" not in value:
        return  # names and times of hooks; the wire itself is in wire.jsonl
    lines = tmp_path / "answers.jsonl"
    answers = [each for response in value["responses"] for each in _answers(response)]
    lines.write_text("".join(json.dumps(each) + "\n" for each in answers), "utf-8")
    events, report = parsed(formats()[name], lines)
    ours, theirs = count(events, report), oracle(name).count(lines)
    assert ours["tool_uses"]
    assert ours["output_tokens"]
    assert different(ours, theirs) == [], (ours, theirs)


def _answers(response: Any) -> list[dict[str, Any]]:
    """The answer, or its chunks, in what the capture kept of one call."""
    if isinstance(response, list):
        return [each.get("chunk", each.get("event", each)) for each in response if isinstance(each, dict)]
    for name in ("parsed_exclude_unset", "response"):
        if isinstance(response.get(name), dict):
            return [response[name]]
    return [] if "rebuilt" in response else [response]


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


def test_every_format_with_files_has_its_counter() -> None:
    """No format is compared with nothing."""
    names = [name for name in formats() if name != "exchange"]
    assert [name for name in names if not (REPO / "tests" / "oracle" / f"{name}.py").exists()] == []
