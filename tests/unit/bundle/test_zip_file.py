"""The zip as others read it, small and beyond 32 bits."""

from __future__ import annotations

import errno
import os
import subprocess
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stenograph.bundle.seal import is_sealed
from stenograph.bundle.spool import PREFIX, Spool, sweep
from stenograph.bundle.zip_member import ZipMember

AT = datetime(2026, 6, 8, 8, 14, 42, tzinfo=UTC)


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    """A spool with three files, one of them empty and one of several chunks."""
    spool = Spool(tmp_path)
    spool.add("b.txt", b"")
    spool.add("a/long.bin", bytes(range(256)) * 8000)
    spool.add("manifest.json", b"{}")
    return spool


@pytest.mark.parametrize("is_large", [False, True])
def test_the_standard_library_reads_it(
    spool: Spool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_large: bool
) -> None:
    """Names, order, times, modes and bytes are as given; the form for large files (here: for any) is read, too."""
    if is_large:
        monkeypatch.setattr("stenograph.bundle.zip_file.LIMIT", 1)
    path = tmp_path / "a.zip"
    spool.publish(path, "folder", AT)
    spool.discard()
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["folder/manifest.json", "folder/a/long.bin", "folder/b.txt"]
        assert archive.read("folder/a/long.bin") == bytes(range(256)) * 8000
        info = archive.getinfo("folder/b.txt")
        assert archive.testzip() is None
    assert info.date_time == (2026, 6, 8, 8, 14, 42)
    assert info.external_attr >> 16 == 0o100600
    assert (info.extract_version == 45) is is_large
    subprocess.run(["unzip", "-tq", path], check=True, capture_output=True)
    assert is_sealed(path)


def test_a_spool_that_was_left_is_swept(tmp_path: Path) -> None:
    """One that a process still holds stays; one that nobody holds goes, unless it was made just now."""
    held = Spool(tmp_path)
    left, fresh = tmp_path / f"{PREFIX}left", tmp_path / f"{PREFIX}fresh"
    other = tmp_path / "other"
    for folder in (left, fresh, other):
        folder.mkdir()
        (folder / "000000").write_bytes(b"half")
    for folder in (held.path, left, other):
        os.utime(folder, (0, 0))
    assert sweep(tmp_path) == 1
    assert held.path.exists()
    assert fresh.exists()
    assert other.exists()
    held.discard()
    held.discard()
    assert not held.path.exists()


def test_a_full_disk_is_told(spool: Spool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the compressing thread ran into comes back to whoever writes."""
    member = spool.open("more")
    monkeypatch.setattr(member, "_put", _no_room)
    with pytest.raises(OSError, match="No space"):
        _write_much(member)
    spool.discard()


def _write_much(member: ZipMember) -> None:
    for _ in range(100):
        member.write(b"x" * 100_000)


def _no_room(data: bytes) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")
