"""Zips that somebody sent: hostile ones are refused before a byte is written."""

from __future__ import annotations

import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from stenograph import Run, read_events
from stenograph.bundle import BundleOptions, DebugBundle, create_bundle, extract_bundle, verify_bundle
from stenograph.bundle.container import Container, ZipLimits
from stenograph.errors import RunNotFound, SourceError, StoreError


@pytest.fixture
def bundle(recorded: Run, tmp_path: Path, bare: BundleOptions) -> Path:
    """A good bundle."""
    return create_bundle(tmp_path / "good.zip", read_events(recorded.path), options=bare)


def zip_of(path: Path, *names: str, mode: int = 0, data: bytes = b"x") -> Path:
    """A zip with these names, however odd."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.filename = info.orig_filename = name  # the constructor would mend some
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return path


@pytest.mark.parametrize(
    "names",
    [
        ["/etc/passwd"],
        ["a/../../x"],
        ["../x"],
        ["a/./x"],
        ["a//x"],
        ["a\\..\\x"],
        ["C:/x/y"],
        ["a/x\x1b[2J"],
        ["a/x\ny"],
        ["a/\u202egnp.x"],
        ["a/" + "x" * 300],
        ["x"],
        ["a/x", "b/y"],
        ["a/x", "a/X"],
        ["a/\u00e9", "a/e\u0301"],
        ["a/x", "a/x/"],
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_odd_names_are_refused(tmp_path: Path, names: list[str]) -> None:
    """Names that lead elsewhere, that a terminal obeys, that are one name twice, or outside of one folder."""
    path = zip_of(tmp_path / "odd.zip", *names)
    target = tmp_path / "out"
    with pytest.raises(SourceError) as refused:
        extract_bundle(path, target)
    assert not target.exists()
    assert str(refused.value).isprintable()
    assert not verify_bundle(path).ok


def test_a_name_with_nul_is_refused(tmp_path: Path) -> None:
    """The standard library would cut the name there, and hide what follows."""
    path = zip_of(tmp_path / "a.zip", "a/xZ../../y")
    path.write_bytes(path.read_bytes().replace(b"a/xZ../../y", b"a/x\0../../y"))
    with pytest.raises(SourceError):
        Container(path)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK])
def test_links_and_devices_are_refused(tmp_path: Path, kind: int) -> None:
    """Only plain files are unfolded."""
    path = zip_of(tmp_path / "link.zip", "a/x", mode=kind | 0o777, data=b"/etc/passwd")
    with pytest.raises(SourceError, match="plain file"):
        extract_bundle(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    """Two files of one name would be read as either."""
    with pytest.raises(SourceError, match="twice"):
        Container(zip_of(tmp_path / "a.zip", "a/x", "a/x"))


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    """Sizes are looked at before anything is unfolded: in all, and in proportion."""
    path = zip_of(tmp_path / "bomb.zip", "a/x", data=b"\0" * 3_000_000)
    with pytest.raises(SourceError, match="beyond the limit"):
        extract_bundle(path, tmp_path / "out", max_bytes=2_000_000)
    with pytest.raises(SourceError, match="beyond the limit"):
        Container(path, ZipLimits(small_bytes=1_000_000))
    Container(path).close()
    with pytest.raises(SourceError, match="more than 1"):
        Container(zip_of(tmp_path / "many.zip", "a/x", "a/y"), ZipLimits(files=1))


def test_a_size_that_lies_gives_no_more(tmp_path: Path) -> None:
    """A file that unfolds to more than it says is broken, and what it says is all that is read."""
    path = zip_of(tmp_path / "lie.zip", "a/x", data=b"\0" * 100_000)
    data = path.read_bytes().replace(struct.pack("<L", 100_000), struct.pack("<L", 10))
    path.write_bytes(data)
    with pytest.raises(SourceError), Container(path) as container:
        container.read("a/x".partition("/")[2])
    assert not verify_bundle(path).ok


def test_files_over_one_another_are_refused(tmp_path: Path) -> None:
    """The bomb in which every name has the same bytes."""
    path = zip_of(tmp_path / "over.zip", "a/x", "a/y")
    data = bytearray(path.read_bytes())
    second = data.rindex(b"PK\1\2")
    data[second + 42 : second + 46] = struct.pack("<L", 0)
    path.write_bytes(data)
    with pytest.raises(SourceError):
        Container(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(tmp_path: Path, method: int) -> None:
    """They unfold a million times."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a/x", b"x" * 1000)
    with pytest.raises(SourceError, match="unsupported compression"):
        Container(path)


def test_what_is_no_bundle_says_so(tmp_path: Path) -> None:
    """No file, a folder, no zip, a zip without a manifest, and a manifest from the future."""
    with pytest.raises(RunNotFound):
        DebugBundle.load(tmp_path / "missing.zip")
    with pytest.raises(SourceError):
        DebugBundle.load(tmp_path)
    (tmp_path / "text.zip").write_text("no zip")
    with pytest.raises(SourceError, match="not a bundle"):
        DebugBundle.load(tmp_path / "text.zip")
    with pytest.raises(SourceError, match=r"no manifest\.json"):
        DebugBundle.load(zip_of(tmp_path / "a.zip", "a/x"))
    with pytest.raises(SourceError, match="no manifest that can be read"):
        DebugBundle.load(zip_of(tmp_path / "b.zip", "a/manifest.json", data=b"[" * 100_000))
    with pytest.raises(SourceError, match="not a debug bundle"):
        DebugBundle.load(zip_of(tmp_path / "c.zip", "a/manifest.json", data=b'{"format":"x","version":1}'))
    newer = b'{"format":"stenograph-bundle","version":99}'
    with pytest.raises(SourceError, match="update stenograph"):
        DebugBundle.load(zip_of(tmp_path / "d.zip", "a/manifest.json", data=newer))


def test_a_bundle_unfolds_to_its_files(bundle: Path, tmp_path: Path) -> None:
    """Every file, private, in a new folder that is there whole; a folder that is there already is left alone."""
    folder = extract_bundle(bundle, tmp_path / "out")
    loaded = DebugBundle.load(bundle)
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert set(found) == {"manifest.json", *(file.name for file in loaded.manifest.files)}
    assert all(path.read_bytes() == loaded.read(name) for name, path in found.items())
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in found.values())
    with pytest.raises(StoreError, match="there already"):
        extract_bundle(bundle, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [folder.name]


def test_a_link_in_the_way_is_not_followed(bundle: Path, tmp_path: Path) -> None:
    """Where the folder would be there is a dangling link: nothing is written through it."""
    out = tmp_path / "out"
    out.mkdir()
    with Container(bundle) as container:
        (out / container.folder).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError):
        extract_bundle(bundle, out)
    assert not (tmp_path / "elsewhere").exists()


def repacked(bundle: Path, change: Callable[[dict[str, bytes]], object]) -> Path:
    """The bundle made anew by another program, with a change to its files."""
    with zipfile.ZipFile(bundle) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    path = bundle.with_name("repacked.zip")
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def named(files: dict[str, bytes], name: str) -> str:
    return next(each for each in files if each.endswith(name))


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        (lambda files: None, {"unsealed"}),
        (lambda files: files.update({named(files, "events.jsonl"): b"{}\n"}), {"unsealed", "changed"}),
        (lambda files: files.pop(named(files, "transcript.jsonl")), {"unsealed", "missing"}),
        (lambda files: files.update({next(iter(files)).partition("/")[0] + "/x": b""}), {"unsealed", "extra"}),
        (lambda files: files.pop(named(files, "manifest.json")), {"unsealed", "unreadable"}),
    ],
)
def test_verify_names_what_was_done(
    bundle: Path, change: Callable[[dict[str, bytes]], object], kinds: set[str]
) -> None:
    """Changed, missing and extra files, and a bundle that was packed again, each by its kind."""
    assert verify_bundle(bundle).ok
    report = verify_bundle(repacked(bundle, change))
    assert {finding.kind for finding in report.findings} == kinds


def test_verify_finds_what_was_added_at_the_ends(bundle: Path) -> None:
    """Bytes before and behind the zip, which unzip would not mind."""
    good = bundle.read_bytes()
    for data in (good + b"\0", b"\0" + good, good[:-1], good + good):
        bundle.write_bytes(data)
        assert not verify_bundle(bundle).ok
