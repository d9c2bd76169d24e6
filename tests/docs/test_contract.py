"""docs/contract.md: every row of the contract names a living test, or says that it is open."""

from __future__ import annotations

import ast
from functools import cache
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


def _rows() -> list[tuple[str, str]]:
    lines = (REPO / "docs" / "contract.md").read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [(row[0], row[-1]) for row in cells if row[0] != "row"]


TABLE = dict(_rows())


def test_every_row_of_the_contract_is_there_once() -> None:
    """Every row of the documents is there, in order, and no row has another's name."""
    names = [name for name, _ in _rows()]
    assert names[: len(ROWS)] == ROWS
    assert len(names) == len(set(names)), sorted({name for name in names if names.count(name) > 1})


@pytest.mark.parametrize("row", TABLE)
def test_a_row_names_living_tests_or_says_open(row: str) -> None:
    """Each proof is a test that exists and is not skipped; a promise of an issue that is not kept yet is `open`."""
    proofs = [proof.strip(" `") for proof in TABLE[row].split("<br>")]
    assert all(proofs), f"{row} names nothing"
    for proof in proofs:
        if proof == "open" or proof.startswith("open:"):
            assert row not in ROWS, f"{row} was kept before"
        else:
            _check_alive(proof)


@cache
def _parsed(file: str) -> ast.Module:
    return ast.parse((REPO / file).read_text("utf-8"))


def _check_alive(proof: str) -> None:
    file, _, name = proof.partition("::")
    tree = _parsed(file)
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
