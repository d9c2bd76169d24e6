"""The rules of the suite itself: what conftest.py and the profiles of Hypothesis promise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

REPO = Path(__file__).parents[2]
ROW = "| X1 | a promise | `tests/test_one.py::test_proof` |\n"
TESTS = """
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_proof(n):
    if not {is_proved} and n == 2:
        pytest.skip("not here")

def test_other():
    pytest.skip("no row rests on this one")
"""


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize("is_proved", [True, False])
def test_a_skipped_proof_of_the_contract_fails_the_run(tmp_path: Path, workers: str, is_proved: bool) -> None:
    """One skipped case of a named test is enough, with and without workers; a test that no row names may be skipped."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "docs" / "contract.md").write_text(ROW, "utf-8")
    (tmp_path / "conftest.py").write_bytes((REPO / "conftest.py").read_bytes())
    (tmp_path / "tests" / "test_one.py").write_text(TESTS.format(is_proved=is_proved), "utf-8")
    options = ["-p", "no:cacheprovider", "-n", workers, "--rootdir", str(tmp_path)]
    plain = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # what the rule does not need takes seconds to load
    command = [sys.executable, "-m", "pytest", "-p", "xdist", *options, "tests"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, env=plain)
    assert done.returncode == (0 if is_proved else 1), done.stdout + done.stderr
    told = "skipped, though docs/contract.md rests on them: tests/test_one.py::test_proof"
    assert (told in done.stdout) != is_proved


def test_properties_are_the_same_each_time_and_many_more_under_fuzz() -> None:
    """`make test` draws the examples that it always draws; `make fuzz` draws new ones, twenty times as many."""
    ours, fuzz = settings.get_profile("ours"), settings.get_profile("fuzz")
    assert ours.derandomize
    assert not fuzz.derandomize
    assert fuzz.max_examples == 20 * ours.max_examples


def test_what_is_loaded_does_not_change_what_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers have different modules when they come to a test; Hypothesis would draw constants of those."""

    def drawn() -> list[int]:
        found: list[int] = []

        @settings(max_examples=300, derandomize=True, database=None)
        @given(st.integers())
        def test(number: int) -> None:
            found.append(number)

        test()
        return found

    before = drawn()
    file = tmp_path / "new.py"
    file.write_text(f"numbers = {list(range(7_000_000_000, 7_000_001_000, 7))}\n", "utf-8")
    module = ModuleType("new")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "new", module)
    assert drawn() == before
