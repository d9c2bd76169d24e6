"""Folders of what agents said are for their owner alone, whatever the umask."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from archive_cases import SESSION, claude_line, session_path, subagent_path, synced, written

Steno = Callable[..., Any]


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    """What the user lets others do, in the worst case everything."""
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_folders_of_texts_and_of_restored_files_are_private(
    steno: Steno, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their names are words of prompts; those above them that we make are private, too."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    written(session_path(home), claude_line(1, "user", "A secret plan"), claude_line(2, "assistant", "Fine."))
    written(subagent_path(home), claude_line(3, isSidechain=True, agentId="a1"))
    synced(home, archive)
    monkeypatch.setenv("STENOGRAPH_HOME", str(archive))
    monkeypatch.chdir(tmp_path)
    made = {
        "texts": ("text", SESSION, "--root", "texts/deep"),
        "given": ("restore", SESSION, "given/deep"),
        "out": ("export", SESSION, "--to", "atif", "-o", "out/deep/"),
        "unfolded": ("bundle", "extract", "b.zip", "-o", "unfolded/deep"),
    }
    assert steno("bundle", "create", SESSION, "-o", "b.zip", "--no-page", "--no-environment").code == 0
    for name, words in made.items():
        done = steno(*words)
        assert done.code == 0, done.err
        folders = [tmp_path / name, *(path for path in (tmp_path / name).rglob("*") if path.is_dir())]
        assert len(folders) > 1
        assert {oct(folder.stat().st_mode & 0o777) for folder in folders} == {"0o700"}
        files = [path for path in (tmp_path / name).rglob("*") if path.is_file()]
        assert files
        assert {oct(file.stat().st_mode & 0o777) for file in files} == {"0o600"}
