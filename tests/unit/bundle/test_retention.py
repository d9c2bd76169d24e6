"""How many bundles a folder keeps."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from stenograph import Run, read_events
from stenograph.bundle import BundleOptions, Retention, apply_retention, create_bundle, debug_bundle

NOW = datetime(2026, 6, 8, tzinfo=UTC)


@pytest.fixture
def bundles(recorded: Run, tmp_path: Path, bare: BundleOptions) -> list[Path]:
    """Four bundles, made a day after one another, the newest now."""
    made = [create_bundle(tmp_path / "bundles", read_events(recorded.path), options=bare) for _ in range(4)]
    for age, path in enumerate(reversed(made)):
        moment = (NOW - timedelta(days=age)).timestamp()
        os.utime(path, (moment, moment))
    return made


def kept(bundles: list[Path]) -> list[int]:
    return [number for number, path in enumerate(bundles) if path.exists()]


def test_the_newest_stay(bundles: list[Path]) -> None:
    """By number, by age and by size: the oldest go first, and what goes is told."""
    folder = bundles[0].parent
    assert apply_retention(folder, Retention(), now=NOW) == []
    assert apply_retention(folder, Retention(max_bundles=3), now=NOW) == [bundles[0]]
    assert apply_retention(folder, Retention(max_age=timedelta(days=1.5)), now=NOW) == [bundles[1]]
    room = bundles[3].stat().st_size + bundles[2].stat().st_size - 1
    assert apply_retention(folder, Retention(max_total_bytes=room), now=NOW) == [bundles[2]]
    assert kept(bundles) == [3]


def test_the_one_just_made_always_stays(bundles: list[Path]) -> None:
    """Also when it is the oldest, and no room is left for it."""
    apply_retention(bundles[0].parent, Retention(max_bundles=0, max_total_bytes=0), keep=bundles[0], now=NOW)
    assert kept(bundles) == [0]


def test_only_ours_are_removed(bundles: list[Path], recorded: Run, bare: BundleOptions) -> None:
    """Other files, zips of the same name that are none of ours, links, folders and bundles that people named stay."""
    folder = bundles[0].parent
    named = create_bundle(folder / "bug.zip", read_events(recorded.path), options=bare)
    posing = folder / "stenograph-550e8400-20260101T000000Z-550e8400.zip"
    posing.write_bytes(b"PK no bundle")
    (folder / "notes.txt").write_text("mine")
    link = folder / "stenograph-550e8400-20260101T000000Z-650e8400.zip"
    link.symlink_to(bundles[3])
    (folder / "stenograph-550e8400-20260101T000000Z-750e8400.zip").mkdir()
    apply_retention(folder, Retention(max_bundles=0), now=NOW)
    assert kept(bundles) == []
    assert named.exists()
    assert posing.exists()
    assert link.is_symlink()
    assert len(list(folder.iterdir())) == 5


def test_the_database_beside_a_bundle_goes_with_it(bundles: list[Path]) -> None:
    """What `steno query` kept is of no use without its bundle."""
    beside = [path.with_name(f"{path.name}.sqlite") for path in bundles[:2]]
    for path in beside:
        path.touch()
    apply_retention(bundles[0].parent, Retention(max_bundles=3), now=NOW)
    assert [path.exists() for path in beside] == [False, True]


def test_recording_keeps_the_folder_in_order(tmp_path: Path, root: Path, bare: BundleOptions) -> None:
    """`debug_bundle` applies it after each bundle."""
    for _ in range(3):
        with debug_bundle(tmp_path / "out", root=root, options=bare, retention=Retention(max_bundles=2)) as recording:
            pass
        assert recording.path is not None
        assert recording.path.exists()
    assert len(list((tmp_path / "out").iterdir())) == 2
