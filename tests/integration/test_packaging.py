"""What is built can be installed and used: the wheel, and the wheel that the source distribution gives."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
PATIENCE = 120


def _build(folder: Path, target: str, out: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(out)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=PATIENCE)
    (built,) = out.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the checkout."""
    return _build(REPO, "wheel", tmp_path_factory.mktemp("wheel"))


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_source_distribution_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """Byte for byte, and with everything that the package has in the checkout."""
    made = _build(REPO, "sdist", tmp_path / "sdist")
    with tarfile.open(made) as source:
        has_filters = hasattr(tarfile, "data_filter")  # not in the first releases of Python 3.11
        source.extractall(tmp_path / "unpacked", **({"filter": "data"} if has_filters else {}))  # type: ignore[arg-type]
    (folder,) = (tmp_path / "unpacked").iterdir()
    contents = _contents(wheel)
    assert _contents(_build(folder, "wheel", tmp_path / "wheel")) == contents
    tracked = {
        str(path.relative_to(REPO / "src"))
        for path in (REPO / "src" / "stenograph").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert tracked == {name for name in contents if name.startswith("stenograph/")}


def test_the_wheel_is_installed_and_used(wheel: Path, tmp_path: Path) -> None:
    """In an environment of its own, which has our dependencies and no checkout: a run is recorded, listed and shown."""
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True, timeout=PATIENCE)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "install"]
    subprocess.run(
        [*pip, "--quiet", "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True, timeout=PATIENCE
    )
    # A .pth file adds a folder to look in; the .pth files in it, by which the checkout is installed, are not read.
    (packages,) = environment.glob("lib/python3*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    places = {"HOME": str(tmp_path), "STENOGRAPH_HOME": str(tmp_path / "archive"), "PATH": os.environ["PATH"]}

    def steno(*words: str) -> str:
        command = [environment / "bin" / "steno", *words]
        done = subprocess.run(command, cwd=tmp_path, env=places, capture_output=True, text=True, timeout=PATIENCE)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout

    where = subprocess.run(
        [python, "-c", "import stenograph; print(stenograph.__file__)"], capture_output=True, text=True
    )
    assert where.stdout.startswith(str(packages)), where.stderr
    assert steno("--version").startswith("steno ")
    steno("demo", "--pace", "0", "--json")
    assert steno("sync", "--path", "storage").startswith("3 new, ")
    assert "Review stats.py for bugs." in steno("ls")
    steno("show", "@", "--as", "html", "-o", "page.html")
    assert b"</html>" in (tmp_path / "page.html").read_bytes()
    assert "claude_code" in steno("formats")
    assert steno("export", "--list")
