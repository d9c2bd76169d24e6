"""Where it runs: Pythons, systems, and what is said of those that were not tried."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
PAGE = REPO / "docs" / "reference" / "platforms.md"
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]


def _listed(*options: str) -> dict[str, str]:
    command = [sys.executable, REPO / "tools" / "pythons", "--list", *options]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    return dict(line.split(maxsplit=1) for line in lines)


def test_every_python_that_is_named_was_tried_or_is_said_not_to_be() -> None:
    """The classifiers and the page name the same versions, and the tool finds the one that runs this."""
    named = {match[1] for each in PROJECT["classifiers"] if (match := re.search(r"Python :: (3\.\d+)$", each))}
    tried = set(
        re.findall(r"^\| Python (3\.\d+)\.\d+ \| .*(?:tested|whole suite)", PAGE.read_text(), flags=re.MULTILINE)
    )
    assert named == tried
    ours = ".".join(map(str, sys.version_info[:2]))
    found = [version.rpartition(".")[0] for version in _listed()]
    assert ours in found
    assert [version.rpartition(".")[0] for version in _listed("--others")] == [each for each in found if each != ours]


def test_windows_is_refused_in_one_line() -> None:
    """By the command, with the exit code for wrong usage, and by the package when a name of it is used."""
    command = "import sys; sys.platform = 'win32'; sys.argv = ['steno', 'ls']; from stenograph.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, timeout=60)
    line = "Stenograph does not run on Windows; use it inside WSL"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"steno: {line}\n")
    use = "import sys; sys.platform = 'win32'; import stenograph; stenograph.start_run"
    done = subprocess.run([sys.executable, "-c", use], capture_output=True, text=True, timeout=60)
    assert done.stderr.splitlines()[-1] == f"ImportError: {line}"
    assert "Windows" in PAGE.read_text()


@pytest.mark.scale
@pytest.mark.timeout(1700)
def test_nothing_is_called_that_macos_does_not_have(tmp_path: Path) -> None:
    """The types of the standard library say what each system has."""
    command = [sys.executable, "-m", "mypy", "--platform", "darwin", "--cache-dir", tmp_path]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=1600)
    assert done.returncode == 0, done.stdout


def test_files_are_where_macos_keeps_them(tmp_path: Path) -> None:
    """The archive is below Application Support, and agents that keep files there are looked for there, too."""
    script = """
        import sys
        sys.platform = "darwin"
        from stenograph.archive.store.home import home_of
        print(home_of(None).path)
    """
    lines = "\n".join(line.strip() for line in script.splitlines())
    places = {"HOME": str(tmp_path), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, env=places, timeout=60)
    assert done.stdout == f"{tmp_path}/Library/Application Support/stenograph\n", done.stderr
    from stenograph.formats.registry import formats

    homes = [home.default for spec in formats().values() if spec.layout is not None for home in spec.layout.homes]
    editors = [home for home in homes if home.startswith(".config/Code/")]
    assert editors
    assert {home.replace(".config/", "Library/Application Support/", 1) for home in editors} <= set(homes)
