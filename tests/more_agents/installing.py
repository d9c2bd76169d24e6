"""Programs from npm and pip, installed once, at pinned versions, under `.cache/more-agents`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from one_installer import install_patiently, installing_alone, run_installer

PINS = Path(__file__).parent / "pins"
CACHE = Path(__file__).parents[2] / ".cache" / "more-agents"
NODE = "22.23.3"
"""The newest agents need node 22 at least; Debian has node 20."""
UV = "0.13.8"
"""It installs OpenHands' 200 packages in half a minute, for which pip takes twelve."""


@dataclass(frozen=True)
class Npm:
    """A package of npm."""

    package: str
    version: str
    executable: str
    """What to start, below `node_modules`: `.bin/NAME` or a path, the first that fits where it has a `*`."""
    is_script: bool = True
    """Whether node runs it; a program for this platform runs by itself."""
    runs_scripts: bool = False
    """Whether the package's own install scripts have to run."""
    more: tuple[str, ...] = ()
    """Further packages with their versions."""
    node: str = field(default=NODE, repr=False)
    """The version of node that it is run with."""

    @property
    def name(self) -> str:
        """What its folder in the cache is called."""
        return f"{self.package.replace('/', '_').lstrip('@')}-{self.version}"

    def install(self, place: Path) -> None:
        """Into an empty folder."""
        options = [] if self.runs_scripts else ["--ignore-scripts"]
        run_installer(
            [_npm(), "install", "--prefix", str(place), "--no-audit", "--no-fund", "--no-package-lock", *options,
             f"{self.package}@{self.version}", *self.more]
        )  # fmt: skip

    def command(self, place: Path) -> list[str]:
        """What starts it."""
        found = sorted(place.glob(f"node_modules/{self.executable}"))
        if not found:
            pytest.fail(f"make more-agents: {self.package} {self.version} has no {self.executable}", False)
        return [str(node(self.node)), str(found[0])] if self.is_script else [str(found[0])]


@dataclass(frozen=True)
class Pip:
    """Packages of pip, in a virtual environment of their own."""

    package: str
    version: str
    executable: str
    """What to start, below `bin`."""
    more: tuple[str, ...] = ()
    """Further packages with their versions."""
    python: int = 11
    """The least Python 3 that it needs: a newer one than ours is looked for, and without one its tests are skipped."""

    @property
    def name(self) -> str:
        """What its folder in the cache is called."""
        return f"{self.package.partition('[')[0]}-{self.version}"

    @property
    def pins(self) -> Path:
        """The versions of all that it needs, so that no release of today changes what is tested.

        After a change of version: `uv pip freeze --python PLACE/bin/python`, of an installation without this file.
        """
        return PINS / f"{self.name}.txt"

    def install(self, place: Path) -> None:
        """Into an empty folder: by uv, which takes a tenth of the time, or by pip where uv finds no packages.

        pip may be configured for other indexes; uv does not read that configuration.
        """
        wanted = [f"{self.package}=={self.version}", *self.more]
        if self.pins.exists():
            wanted += ["--constraint", str(self.pins)]
        try:
            install_patiently(lambda: self._by_uv(place, wanted), pauses=[5])
        except pytest.fail.Exception:
            run_installer([_python(self.python), "-m", "venv", "--clear", str(place)])
            run_installer([str(place / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *wanted])

    def _by_uv(self, place: Path, wanted: list[str]) -> None:
        run_installer([_uv(), "venv", "--quiet", "--clear", "--python", _python(self.python), str(place)])
        run_installer([_uv(), "pip", "install", "--quiet", "--python", str(place / "bin" / "python"), *wanted])

    def command(self, place: Path) -> list[str]:
        """What starts it."""
        return [str(place / "bin" / self.executable)]


Program = Npm | Pip


def installed(program: Program) -> list[str]:
    """What starts a program, which is installed now unless it was before; a test that cannot have it fails."""
    place = CACHE / program.name
    with installing_alone(place):
        mark = place / ".installed"
        wanted = _wanted(program)
        if not mark.exists() or mark.read_text("utf-8") != wanted:
            install_patiently(lambda: _install(program, place))
            mark.write_text(wanted, "utf-8")
    return program.command(place)


def _wanted(program: Program) -> str:
    """What an installation must be of, or it is made again."""
    pins = program.pins.read_text("utf-8") if isinstance(program, Pip) and program.pins.exists() else ""
    return f"{program!r}\n{pins}" if pins else repr(program)


def _install(program: Program, place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)  # half of an installation, or an older one
    place.mkdir(parents=True)
    program.install(place)
    program.command(place)  # npm succeeds also without the part for this platform, which it takes for optional


def node(version: str = NODE) -> Path:
    """Node, from npm."""
    return Path(installed(Npm("node", version, "node/bin/node", is_script=False, runs_scripts=True))[0])


def _uv() -> str:
    """Installs packages of Python; pip installs it."""
    place = CACHE / f"uv-{UV}"
    program = place / "bin" / "uv"
    with installing_alone(place):
        if not program.exists():
            install_patiently(lambda: _install_uv(place))
    return str(program)


def _install_uv(place: Path) -> None:
    run_installer([sys.executable, "-m", "venv", "--clear", str(place)])
    run_installer([str(place / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", f"uv=={UV}"])


def _python(least: int) -> str:
    """Our own Python, or the next newer one that is at hand: of this machine, or of pyenv."""
    if sys.version_info >= (3, least):
        return sys.executable
    for minor in range(least, least + 4):
        pyenv = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3"))
        for each in filter(None, [shutil.which(f"python3.{minor}"), *map(str, pyenv)]):
            told = subprocess.run(
                [each, "--version"], capture_output=True, text=True
            )  # pyenv has a shim for any version
            if told.returncode == 0 and told.stdout.startswith(f"Python 3.{minor}."):
                return each
    pytest.skip(f"no Python 3.{least} or newer is here")


def _npm() -> str:
    npm = shutil.which("npm")
    if npm is None:
        pytest.fail("make more-agents needs npm; install it (Debian: apt-get install npm) and try again", False)
    return npm
