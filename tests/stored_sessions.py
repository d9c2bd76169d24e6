"""What tests of agents' stores share: a golden session at its place in a home, and what a sync makes of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from comparison import count, different, oracle
from golden_cases import FOLDER
from stenograph.cli.program import cli
from stenograph.sources import convert


def case(format_name: str, name: str) -> Path:
    """The folder of a golden case, laid out as its agent does."""
    return FOLDER / format_name / name / "input"


def laid_out(format_name: str, name: str, place: Path) -> Path:
    """A copy of a golden case at a place."""
    shutil.copytree(case(format_name, name), place, dirs_exist_ok=True)
    return place


def steno(home: Path, *arguments: str) -> Any:
    """What a command prints as JSON, for a user with this home."""
    archive = ["--archive", str(home / "archive")]
    done = CliRunner(env={"HOME": str(home)}).invoke(cli, [*arguments, *archive, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def synced(home: Path) -> dict[str, Any]:
    """What a sync of a home found."""
    found: dict[str, Any] = steno(home, "sync", "--home", str(home))
    return found


def listed(home: Path) -> list[dict[str, Any]]:
    """The runs of a home's archive, the newest first."""
    found: list[dict[str, Any]] = steno(home, "ls")
    return found


def differences(format_name: str, path: Path) -> dict[str, Any]:
    """What a conversion and the independent counter do not agree on."""
    conversion = convert(path)
    events = list(conversion)
    assert all(file.report.failed == file.report.malformed == 0 for file in conversion.files)
    assert not any(file.report.unknown_types for file in conversion.files)
    ours, theirs = count(events, conversion.files[0].report), oracle(format_name).count(path)
    return {key: (ours[key], theirs[key]) for key in different(ours, theirs)}
