"""The room `runs` opens and reads; commands parse and print."""

from __future__ import annotations

import ast
from pathlib import Path

from stenograph import cli, runs

KINDS = {"JournalRun", "AgentFileRun", "BundledRun", "ArchivedRun", "JournalReader", "Conversion", "IndexReader"}


def _trees(package: object) -> list[tuple[Path, ast.Module]]:
    folder = Path(package.__file__).parent  # type: ignore[attr-defined]
    return [(path, ast.parse(path.read_text("utf-8"))) for path in sorted(folder.rglob("*.py"))]


def test_no_command_asks_which_kind_of_reader_it_has() -> None:
    """No `isinstance` on a reader in `cli` or `runs`, and no command imports one of them."""
    for path, tree in [*_trees(cli), *_trees(runs)]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                asked = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
                assert not asked & KINDS, f"{path}:{node.lineno}"
    for path, tree in _trees(cli):
        imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names}
        assert not imported & KINDS, path
