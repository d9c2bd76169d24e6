"""What docs/reference/files.md says of an archive's files holds for a real one."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from archive_cases import claude_line, rows, session_path, subagent_path, synced, whole_index, written

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "files.md"


def archived(tmp_path: Path) -> tuple[Path, Path]:
    """A home folder and its archive, with every kind of file that one has."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    written(session_path(home), claude_line(1), claude_line(2, "call"))
    subagent = written(subagent_path(home), claude_line(3, isSidechain=True, agentId="a1"))
    subagent.with_suffix(".meta.json").write_text("{}")
    synced(home, archive)
    return home, archive


def test_the_code_reads_a_pack(tmp_path: Path) -> None:
    """The page's own code names every file with its bytes."""
    home, archive = archived(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    found = list(names["frames"](archive / "kept" / "000001.pack"))
    query = "SELECT kind, file, version, start, length FROM frames ORDER BY id"
    told = [(each["kind"], each["file"], each["version"], each.get("start", 0), len(data)) for each, _, data in found]
    assert told == rows(archive, query)
    contents = {path: data for header, path, data in found if header["kind"] == "bytes"}
    assert contents == {str(path): path.read_bytes() for path in (session_path(home), subagent_path(home))}
    assert [data for header, _, data in found if header["kind"] == "side"] == [b"{}"]


def test_a_frame_is_where_the_index_says(tmp_path: Path) -> None:
    """The page's way with `tail` and `head` finds a zstd frame."""
    _, archive = archived(tmp_path)
    for pack, at, size in rows(archive, "SELECT pack, at, size FROM frames"):
        data = (archive / "kept" / f"{pack:06}.pack").read_bytes()[at : at + size]
        assert data.startswith(b"\x28\xb5\x2f\xfd")


def test_what_may_be_deleted_is_made_again(tmp_path: Path) -> None:
    """The packs alone, in another place, are the archive; every name in it is on the page."""
    home, archive = archived(tmp_path)
    page = PAGE.read_text("utf-8")
    for path in archive.rglob("*"):
        name = re.sub(r"\d{6}", "NNNNNN", path.name)
        assert name.replace("index.db-", "….db-") in page or name in page, name
    before = whole_index(archive)
    shutil.copytree(archive / "kept", tmp_path / "moved" / "kept")
    assert synced(home, tmp_path / "moved").rebuilt
    assert whole_index(tmp_path / "moved") == before
    assert (tmp_path / "moved" / "kept").stat().st_mode & 0o077 == 0


def test_the_how_to_names_the_files_that_a_named_folder_is_searched_for() -> None:
    """Every ending and no other, so that a person knows what to unpack or rename."""
    from stenograph.archive.keep.walk import other_name_reason

    page = (PAGE.parents[1] / "how-to" / "keep-your-history.md").read_text("utf-8")
    (sentence,) = re.findall(r"In a folder that you name, (.*?) are looked into", page, re.DOTALL)
    endings = re.findall(r"\.\w[\w.]*", other_name_reason())
    assert sorted(re.findall(r"`([^`]+)`", sentence)) == sorted(endings)


def test_the_reference_does_not_deny_an_option_that_it_lists() -> None:
    """`There is no …` beside the row of that very option."""
    page = (PAGE.parent / "cli.md").read_text("utf-8")
    for part in page.split("\n## ")[1:]:
        denied = re.findall(r"There is no `(--[\w-]+)`", part)
        assert not [option for option in denied if f"| `{option}" in part], part.partition("\n")[0]
