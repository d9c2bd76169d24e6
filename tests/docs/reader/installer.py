"""Stands in for `pip`, `pipx`, `uv`, `python3 -m venv` and `make` on the pages: installs nothing, and checks the line.

Our package comes from the checkout, with extras that exist. It is not on an index, where anybody could register it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

REPO = Path(__file__).parents[3]


def check_requirements(words: list[str]) -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
    named = [word for word in words if not word.startswith("-")]
    assert named, "it installs nothing"
    for word in named:
        name, extras = re.fullmatch(r"([^\[\]]+)(?:\[([\w,-]+)\])?", word).groups()
        assert name != project["name"], f"{word} is not on an index; install from the checkout: '.[{extras or 'web'}]'"
        if name == ".":
            unknown = set(filter(None, (extras or "").split(","))) - set(project["optional-dependencies"])
            assert not unknown, f"no such extra: {unknown}"


def install_metadata(folder: Path) -> None:
    """Where the reader made a package, its entry points are found from now on; the folder is in the path."""
    project = folder / "pyproject.toml"
    if project.exists():
        made = tomllib.loads(project.read_text())["project"]
        metadata = folder / f"{made['name'].replace('-', '_')}-{made['version']}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Name: {made['name']}\nVersion: {made['version']}\n")
        groups = made["entry-points"].items()
        text = "".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()) for group, points in groups)
        (metadata / "entry_points.txt").write_text(text)


def make_environment(folder: Path) -> None:
    programs = folder / "bin"
    programs.mkdir(parents=True)
    (programs / "activate").write_text("")
    (programs / "pip").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" pip "$@"\n')
    (programs / "pip").chmod(0o755)


def main() -> None:
    match sys.argv[1:]:
        case ["pip" | "pipx", "install", *words] | ["uv", "tool", "install", *words]:
            check_requirements(words)
            if words == ["."]:
                install_metadata(Path.cwd())
        case ["venv", folder]:
            make_environment(Path(folder))
        case ["make", *targets]:
            elsewhere = [place for place in os.environ["PATH"].split(os.pathsep) if place != os.environ["STAND_INS"]]
            program = shutil.which("make", path=os.pathsep.join(elsewhere))
            assert program is not None
            subprocess.run([program, "--dry-run", "-C", str(REPO), *targets], check=True)
        case other:
            sys.exit(f"the stand-in does not know {other}")


main()
