"""docs/contract.md: every row of the contract names a living test, or the issue that will bring it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
ROWS = [
    *(f"A{n}" for n in ("1", "2", "3", "3b", "4", "5", "6", "7")),
    *(f"B{n}" for n in range(1, 10)),
    *(f"C{n}" for n in range(1, 6)),
    *(f"D{n}" for n in range(1, 8)),
    *(f"E{n}" for n in range(1, 4)),
]
ISSUES = {
    "The record: canonical events, the durable journal, the run API, and a demo a newcomer can run",
    "Formats I: Claude Code, Codex, OpenAI, Anthropic, and our own, as canonical events",
    "Live capture: collector, adapters, structured logs and sessions, proved against the real agents",
    "Formats II: Gemini CLI, Copilot CLI, OpenCode, and parity between agents",
    "The archive: every agent's history on this machine, kept, searchable, countable",
    "Bundles, plain-text transcripts and a page to hand to someone",
}


def _table() -> dict[str, str]:
    lines = (REPO / "docs" / "contract.md").read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {row[0]: row[-1] for row in cells if re.fullmatch(r"[A-E]\d+b?", row[0])}


TABLE = _table()


def test_every_row_of_the_contract_is_there_once() -> None:
    """No row is missing and none is made up."""
    assert list(TABLE) == ROWS


@pytest.mark.parametrize("row", ROWS)
def test_a_row_names_living_tests_or_the_issue_that_brings_it(row: str) -> None:
    """Each proof is a test that exists and is not skipped, or `open:` with the title of an issue."""
    proofs = [proof.strip(" `") for proof in TABLE[row].split("<br>")]
    assert any(proofs), f"{row} names nothing"
    for proof in proofs:
        if proof.startswith("open:"):
            assert proof.removeprefix("open:").strip() in ISSUES, proof
        else:
            _check_alive(proof)


def _check_alive(proof: str) -> None:
    file, _, name = proof.partition("::")
    tree = ast.parse((REPO / file).read_text("utf-8"))
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name
    ]
    assert found, f"{proof} does not exist"
    marks = " ".join(ast.unparse(mark) for mark in [*found[0].decorator_list, *_module_marks(tree)])
    assert "skip" not in marks, f"{proof} is skipped"
    assert "xfail" not in marks, f"{proof} is expected to fail"
    assert any(isinstance(node, ast.Assert | ast.With | ast.Call) for node in ast.walk(found[0])), (
        f"{proof} checks nothing"
    )


def _module_marks(tree: ast.Module) -> list[ast.expr]:
    """What `pytestmark` says about every test of the module."""
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    return [node.value for node in assigned if [ast.unparse(target) for target in node.targets] == ["pytestmark"]]
