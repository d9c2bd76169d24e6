"""Tokens and dollars of every file in ../shared, compared with a counter that shares no code with the product."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from accounting import COUNTER, TABLE, cost_of, counted, naive, plain
from shared_folder import SHARED
from stenograph.sources import detect_file

pytestmark = pytest.mark.corpus

_GPTME = "internal__parser__testdata__gptme__2026-06-13-write-hello-world__conversation.jsonl"
EXPLAINED = {
    f"corpus/openai-chat-jsonl/kenn-io+agentsview/{_GPTME}": "gptme, read as a chat: its usage is in `metadata`",
}
"""Files whose count differs, with the reason."""


def _files() -> list[Path]:
    found = [path for name in ("captures", "corpus") for path in sorted((SHARED / name).rglob("*"))]
    kinds = (".jsonl", ".json", ".db", "")
    return [path for path in found if path.is_file() and path.suffix in kinds and not path.name.endswith(".meta.json")]


def test_tokens_and_dollars_agree_with_an_independent_count(capsys: pytest.CaptureFixture[str]) -> None:
    """Call by call, in every file of a format that tells what calls took."""
    files: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    differences = []
    for path in _files():
        spec = detect_file(path).spec
        if spec is None or spec.name not in COUNTER.FORMATS:
            continue
        ours, theirs = counted(path), COUNTER.calls(spec.name, path)
        files[spec.name] += 1
        calls[spec.name] += len(ours)
        name = str(path.relative_to(SHARED))
        same = sorted(map(repr, map(plain, ours))) == sorted(map(repr, map(naive, theirs)))
        if not same or cost_of(ours) != pytest.approx(COUNTER.dollars(theirs, TABLE)[0], abs=1e-9):
            differences.append(f"{spec.name}: {name}: {len(ours)} calls, counted by hand {len(theirs)}")
    with capsys.disabled():
        print("\n" + "\n".join(f"{name:>20} {files[name]:>5} files {calls[name]:>6} calls" for name in sorted(files)))
    unexplained = [each for each in differences if each.split(": ")[1] not in EXPLAINED]
    assert not unexplained, "\n".join(unexplained[:60]) + f"\n… {len(unexplained)} in all"
    assert calls
