"""The pictures of README and docs: there, small, shown, and made by a script."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

REPO = Path(__file__).parents[2]
TOOL = REPO / "tools" / "screenshots"
CAST = REPO / "tools" / "terminal-cast"
LARGEST = 150_000


def test_every_picture_is_made_by_the_script_and_shown() -> None:
    """The script names the pictures that are there; each is small, and some page shows it."""
    told = subprocess.run([sys.executable, TOOL, "--list"], capture_output=True, text=True, check=True).stdout.split()
    pictures = {path.stem: path for path in (REPO / "docs" / "images").glob("*.png")}
    assert sorted(told) == sorted(pictures)
    pages = [REPO / "README.md", *(REPO / "docs").rglob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/([\w-]+)\.png", page.read_text("utf-8"))}
    assert shown == set(pictures)
    for path in pictures.values():
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size <= LARGEST, path


@pytest.mark.browser
def test_the_script_makes_pictures(tmp_path: Path) -> None:
    """Two of them, quickly: an exported page, and a served one."""
    subprocess.run([sys.executable, TOOL, "--quick", "--out", tmp_path], check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page-phone.png", "serve-list.png"]
    assert all(5_000 < path.stat().st_size <= LARGEST for path in tmp_path.iterdir())


def test_the_cast_of_a_terminal_shows_what_the_commands_print(tmp_path: Path) -> None:
    """The script runs each command, and the picture in README shows the same commands before anything is explained."""
    told = subprocess.run([sys.executable, CAST, "--list"], capture_output=True, text=True, check=True)
    subprocess.run([sys.executable, CAST, "--out", tmp_path / "terminal.svg"], check=True)
    for path in (tmp_path / "terminal.svg", REPO / "docs" / "images" / "terminal.svg"):
        assert path.stat().st_size <= LARGEST
        screens = ElementTree.parse(path).findall("{*}g")
        rows = [["".join(text.itertext()) for text in screen.findall("{*}text")] for screen in screens]
        assert [" ".join(row[:2]) for row in rows] == [f"$ {command}" for command in told.stdout.splitlines()]
        assert all(len(row) > 10 for row in rows)
    readme = (REPO / "README.md").read_text("utf-8")
    pictures = [readme.index("docs/images/serve-dark.png"), readme.index("docs/images/terminal.svg")]
    assert max(pictures) < readme.index("\n## ")
