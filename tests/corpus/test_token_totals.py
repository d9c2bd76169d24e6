"""Token totals of every session in ../shared, compared with what the agent itself says that it took."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from archive_cases import rows
from reported_tokens import Tokens, claude_reasons, claude_totals, codex_reasons, codex_totals
from shared_folder import REPO, SHARED
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.fold.usage import Usage, UsageTotals, usage_totals
from stenograph.sources import convert, detect_file

pytestmark = pytest.mark.corpus


def _tokens(usage: Usage) -> Tokens:
    cached = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    return usage.input_tokens, usage.output_tokens, *cached, usage.reasoning_output_tokens


def _counted(path: Path) -> UsageTotals:
    return usage_totals(convert(path, keep_raw=False))


def _sessions(format_name: str, *patterns: str) -> Iterator[Path]:
    for pattern in patterns:
        for path in sorted(SHARED.glob(pattern)):
            spec = detect_file(path).spec
            if spec is not None and spec.name == format_name and not path.name.startswith("agent-"):
                yield path


def _explained(differences: dict[str, set[str]], page: str) -> None:
    """Every difference has a reason, and the page has every reason."""
    assert [name for name, reasons in differences.items() if not reasons] == []
    text = (REPO / "docs" / "formats" / page).read_text("utf-8")
    assert [reason for reasons in differences.values() for reason in reasons if reason not in text] == []


def test_claude_code_agrees_with_its_own_cost_state() -> None:
    """By model; where calls left no answer in the files, our sum is the smaller one."""
    exact, differences = 0, {}
    for path in _sessions("claude_code", "captures/claude/*/home/.claude/projects/*/*.jsonl", "corpus/**/*.jsonl"):
        theirs = claude_totals(path)
        if theirs is None:
            continue
        ours = {model: _tokens(usage) for model, usage in _counted(path).by_model.items()}
        if ours == theirs:
            exact += 1
            continue
        differences[str(path)] = claude_reasons(path)
        for model, tokens in ours.items():
            assert all(x <= y for x, y in zip(tokens, theirs[model], strict=True)), path
    assert exact > len(differences)
    _explained(differences, "claude_code.md")


def test_codex_agrees_with_its_own_totals() -> None:
    """Thread by thread; whatever its total has more than its records, it inherited or never told."""
    exact, differences = 0, {}
    for path in _sessions("codex_rollout", "captures/codex/**/*.jsonl", "corpus/codex-rollout/**/*.jsonl"):
        theirs = codex_totals(path)
        if theirs == _tokens(_counted(path).total):
            exact += 1
        elif theirs is not None:
            differences[str(path)] = codex_reasons(path)
    assert exact > len(differences)
    _explained(differences, "codex_rollout.md")


@pytest.mark.parametrize("pattern", ["claude/*/home/.claude/projects/*", "codex/*"])
def test_the_archive_counts_as_the_fold_does(pattern: str, tmp_path: Path) -> None:
    """Each call once, whichever files of a capture repeat it; fake models of different captures use the same ids."""
    streams = shutil.ignore_patterns("appserver*", "exec*", "stdout*")
    columns = "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
    sums = ", ".join(f"coalesce(sum({name}), 0)" for name in (*columns, "reasoning_output_tokens"))
    cases = sorted((SHARED / "captures").glob(pattern))
    assert cases
    for number, case in enumerate(cases):
        folder, archive = tmp_path / f"sessions{number}", tmp_path / f"archive{number}"
        shutil.copytree(case, folder, ignore=streams)
        with Store(home_of(archive)) as store:
            sync(store, [Root(folder, None)])
        expected = usage_totals(convert(folder, keep_raw=False)).total
        assert rows(archive, f"SELECT {sums} FROM counted") == [_tokens(expected)], case
