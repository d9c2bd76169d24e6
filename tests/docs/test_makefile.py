"""What the Makefile promises."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

REPO = Path(__file__).parents[2]


def test_make_corpus_reads_the_folder_it_is_given(tmp_path: Path) -> None:
    """`make corpus SHARED=DIR` passes the folder on, however it was named, also with spaces."""
    folder = tmp_path / "some where"
    folder.mkdir()
    command = ["make", "--dry-run", "--always-make", "-C", str(REPO), "corpus"]
    told = subprocess.run([*command, f"SHARED={folder}"], capture_output=True, text=True, check=True).stdout
    assert f'SHARED="$(realpath "{folder}")" tools/run-tests corpus' in told


def test_exports_are_read_by_others_before_anything_lands() -> None:
    """`make interop` gives exports to their readers, in an environment of its own, and `.ci/run` runs it."""
    command = ["make", "--dry-run", "--always-make", "-C", str(REPO), "interop"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "tools/interop .venv/bin/python .venv-interop/bin/python" in told
    assert "make interop" in (REPO / ".ci" / "run").read_text().splitlines()
    tool = (REPO / "tools" / "interop").read_text()
    names = "agui anthropic atif inspect inspect-eval messages otlp otlp-protobuf parquet pi scout"
    for name in names.split():
        assert f'"{name}": read_{name.replace("-", "_")},' in tool
    assert "verifyEvents" in tool
    assert "compare_with_harbor(" in tool.partition("def read_atif")[2].partition("\ndef ")[0]


def test_traces_are_read_back_from_their_receivers() -> None:
    """`make interop` sends traces to MLflow and Phoenix and reads them back; neither is a dependency of ours."""
    command = ["make", "--dry-run", "--always-make", "-C", str(REPO), "interop"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "tools/interop-receivers .venv-interop/receivers/bin/python" in told
    tool = (REPO / "tools" / "interop-receivers").read_text()
    for way in ('(mlflow, "otlp", "genai")', '(mlflow, "otlp-protobuf", "openinference")', "growing_runs_arrive("):
        assert way in tool
    for vocabulary in ("genai", "openinference"):
        assert f'(phoenix, "otlp-protobuf", "{vocabulary}")' in tool
    assert "phoenix" not in (REPO / "pyproject.toml").read_text()


def test_evidence_is_checked_by_others_before_anything_lands() -> None:
    """`make interop` has `aics-tlog` and Go's packages check our evidence, and refuse it with a bit flipped."""
    command = ["make", "--dry-run", "--always-make", "-C", str(REPO), "interop"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "tools/interop-evidence .venv/bin/python .venv-interop/evidence" in told
    assert "make interop" in (REPO / ".ci" / "run").read_text().splitlines()
    tool = (REPO / "tools" / "interop-evidence").read_text()
    for what in ("aics-tlog", "go-verifier", "checkpoint", "inclusion", "consistency", "tile"):
        assert what in tool


def test_import_rules_are_checked_before_anything_lands() -> None:
    """`make test` checks who may import whom, and every room has its place in the rules."""
    command = ["make", "--dry-run", "--always-make", "-C", str(REPO), "test"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "lint-imports" in told
    rules = tomllib.loads((REPO / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    assert rules["exhaustive"] is True
    assert rules["exhaustive_ignores"] == ["__main__"]
