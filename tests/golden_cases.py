"""The golden cases: real transcripts with the events they must give."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "golden"
CASES = sorted(path.parent for path in FOLDER.glob("*/*/origin.md"))


def input_of(case: Path) -> Path:
    """The file or folder to convert."""
    (found,) = case.glob("input*")
    return found


def files_of(case: Path) -> list[Path]:
    """Every transcript file of a case."""
    found = input_of(case)
    return [found] if found.is_file() else sorted(found.rglob("*.jsonl"))


def name_of(case: Path) -> str:
    """`<format>/<case>`."""
    return f"{case.parent.name}/{case.name}"
