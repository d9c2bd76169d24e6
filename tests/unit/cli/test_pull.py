"""`steno pull` and `steno forget --store`: what they say, to people and to programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from archive_cases import rows
from fleet_cases import archive_id, folder_store, grown, session_id

Steno = Callable[..., Any]


def test_it_lists_archives_and_brings_one(tmp_path: Path, steno: Steno) -> None:
    """A person whose machine is lost does not know its id; the beginning of one is enough."""
    archive, url, into = grown(tmp_path), f"file://{tmp_path / 'store'}", tmp_path / "back"
    steno("push", url, "--archive", archive)
    own = archive_id(archive)
    assert steno("pull", url).out.startswith(f"{own}  ")
    assert [each["id"] for each in steno("pull", url, "--json").json] == [own]
    done = steno("pull", url, own[:8], "--into", into)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("brought ")
    assert own in done.out
    assert rows(into, "SELECT count(*) FROM runs") == rows(archive, "SELECT count(*) FROM runs")
    assert steno("pull", url, own, "--into", into, "--json").json["bytes"] == 0
    missing = steno("pull", url, "nothing", "--into", into)
    assert (missing.code, missing.err.count("\n")) == (3, 1)


def test_a_store_without_archives_says_so_and_a_folder_that_is_not_there_is_not_made(
    tmp_path: Path, steno: Steno
) -> None:
    """A mistyped URL would look like an empty store, and leave a folder behind."""
    folder = tmp_path / "my store"
    url = folder.as_uri()
    for arguments in ((url,), (url, "0f1e2d3c"), (url, "--json")):
        missing = steno("pull", *arguments)
        assert (missing.code, missing.out) == (3, "")
        assert missing.err == f"steno: there is no folder {folder}; check the URL\n"
    assert not folder.exists()
    folder.mkdir()
    empty = steno("pull", url)
    assert (empty.code, empty.out) == (0, "")
    assert empty.err == f"steno: no archive is in {url} yet; steno push sends one\n"


def test_forget_tells_the_store(tmp_path: Path, steno: Steno) -> None:
    """A run of this archive is removed here, too; one of another machine is named by its whole id."""
    here, there, url = grown(tmp_path / "one"), grown(tmp_path / "two"), f"file://{tmp_path / 'store'}"
    for archive in (here, there):
        steno("push", url, "--archive", archive)
    foreign = "0f1e2d3c-4b5a-4978-8695-0000000000ff"
    arguments = ("forget", session_id(1), foreign, "--store", url, "--archive", here)
    plan = steno(*arguments, "--dry-run")
    assert f"run {foreign} (not in this archive)" in plan.out
    assert folder_store(tmp_path).entries(f"v1/{archive_id(here)}/forgotten/") == []
    done = steno(*arguments, "--yes", "--json")
    assert done.code == 0
    assert done.json["run_ids"] == [session_id(1)]
    assert done.json["elsewhere"] == [foreign]
    assert done.json["told"] == sorted([archive_id(here), archive_id(there)])
    assert "other machines remove these runs when they push next" in done.err
    assert rows(here, "SELECT count(*) FROM runs") == [(3,)]
    obeyed = steno("push", url, "--archive", there)
    assert "2 runs were removed here" in obeyed.err
    assert rows(there, "SELECT count(*) FROM runs") == [(3,)]


def test_forget_refuses_what_only_another_machine_could_look_up(tmp_path: Path, steno: Steno) -> None:
    """The beginning of an id that is not here; and an age or a text never widens what is meant."""
    archive, url = grown(tmp_path), f"file://{tmp_path / 'store'}"
    steno("push", url, "--archive", archive)
    common = ("--store", url, "--archive", archive, "--yes")
    assert steno("forget", "99999999", *common).code == 3
    foreign = "0f1e2d3c-4b5a-4978-8695-0000000000ff"
    assert steno("forget", foreign, "--older-than", "1d", *common).code == 3
    assert rows(archive, "SELECT count(*) FROM runs") == [(4,)]
    assert folder_store(tmp_path).entries(f"v1/{archive_id(archive)}/forgotten/") == []
