"""Audits of a real archive under every attack that was thought of, with headers alone and with content."""

from __future__ import annotations

import os
import shutil
import struct
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
import zstandard

from archive_cases import claude_line, session_path, synced, written
from stenograph.archive.store.home import home_of
from stenograph.archive.store.pack import Damage, Frame, content_of, pack_path, packs_in, scan_frames
from stenograph.evidence.anchor import load_anchor
from stenograph.evidence.audit import Verdict, audit
from stenograph.evidence.keys import load_signer, make_key
from stenograph.evidence.log import Log, origin_of
from stenograph.evidence.note import VerifierKey
from stenograph.evidence.tiles import write_tiles

PREFIX = struct.Struct("<4sIQI")


class Case:
    """An archive of ten sessions with a checkpoint after the first half, one at the end, and tiles of the end."""

    def __init__(self, folder: Path) -> None:
        self.home, self.archive = folder / "home", folder / "archive"
        make_key(folder / "key")
        self._signer = load_signer(folder / "key", origin_of("test"))
        self.half, self.all = folder / "half", folder / "all"
        for number in range(10):
            session = f"0f1e2d3c-4b5a-4978-8695-{number:012}"
            text = f"secret plan {number}"
            written(session_path(self.home, session), claude_line(number, text=text, session=session))
            synced(self.home, self.archive)
            if number == 4:
                self._anchor(self.half)
        self._anchor(self.all)

    @property
    def packs(self) -> Path:
        """Where the packs are."""
        return home_of(self.archive).kept

    @property
    def key(self) -> VerifierKey:
        """Who signed."""
        return self._signer.verifier_key

    def _anchor(self, folder: Path) -> None:
        log = Log(self.packs)
        note = self._signer.sign(log.checkpoint(origin_of("test")).note())
        write_tiles(folder, log.tree, [frame.text for frame in log.frames], note.encode())

    def verdict(self, *, quick: bool) -> Verdict:
        """What an audit against both checkpoints says."""
        anchors = [load_anchor(self.half), load_anchor(self.all)]
        return audit(self.packs, anchors, [self.key], quick=quick)

    def frames(self) -> list[bytes]:
        """The bytes of each frame."""
        data = pack_path(self.packs, 1).read_bytes()
        found = [each for each in scan_frames(self.packs, 1) if isinstance(each, Frame)]
        starts = [each.place.at - PREFIX.size - len(each.text) for each in found]
        return [data[start : each.place.end] for start, each in zip(starts, found, strict=True)]

    def write(self, frames: list[bytes]) -> None:
        """Put other frames into the pack."""
        pack_path(self.packs, 1).write_bytes(b"".join(frames))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive that is copied for each test."""
    folder = tmp_path_factory.mktemp("template")
    Case(folder)
    return folder


@pytest.fixture
def case(template: Path, tmp_path: Path) -> Case:
    """A copy of the archive, to be attacked."""
    copied = Case.__new__(Case)
    shutil.copytree(template, tmp_path / "case")
    copied.home, copied.archive = tmp_path / "case" / "home", tmp_path / "case" / "archive"
    copied.half, copied.all = tmp_path / "case" / "half", tmp_path / "case" / "all"
    copied._signer = load_signer(tmp_path / "case" / "key", origin_of("test"))
    return copied


def test_an_archive_that_only_grew_is_good(case: Case) -> None:
    """Growth after a checkpoint is what a log is for; the verdict says that it is anchored."""
    session = "0f1e2d3c-4b5a-4978-8695-000000000099"
    written(session_path(case.home, session), claude_line(99, session=session))
    synced(case.home, case.archive)
    for quick in (True, False):
        verdict = case.verdict(quick=quick)
        assert verdict.is_good
        assert verdict.is_anchored
        assert verdict.frames > 10
        assert bool(verdict.bytes_checked) is not quick


def test_without_a_checkpoint_from_outside_nothing_is_anchored(case: Case) -> None:
    """An archive can be whole and prove nothing against its owner."""
    verdict = audit(case.packs)
    assert verdict.is_whole
    assert not verdict.is_anchored
    assert not audit(case.packs, [load_anchor(case.all)]).is_anchored, "a checkpoint that no known key signed"


def one_payload_byte(frames: list[bytes]) -> list[bytes]:
    """A changed byte in the content."""
    return [*frames[:5], frames[5][:-36] + bytes([frames[5][-36] ^ 1]) + frames[5][-35:], *frames[6:]]


def forged(frames: list[bytes]) -> list[bytes]:
    """Other content, with every checksum made anew."""
    _, header_size, _, _ = PREFIX.unpack(frames[5][: PREFIX.size])
    text = frames[5][PREFIX.size : PREFIX.size + header_size]
    payload = frames[5][PREFIX.size + header_size :]
    content = zstandard.ZstdDecompressor().decompress(payload).replace(b"plan", b"joke")
    header = msgspec.json.decode(text) | {"commit": sha256(payload[-16:] + content).hexdigest()}
    return [*frames[:5], built(msgspec.json.encode(header), content, payload[-24:]), *frames[6:]]


def built(text: bytes, content: bytes, salt: bytes = b"") -> bytes:
    """A frame that looks as ours do."""
    payload = zstandard.ZstdCompressor(level=1, write_checksum=True).compress(content) + salt
    return PREFIX.pack(b"\x93SP1", len(text), len(payload), zlib.crc32(text)) + text + payload


def one_header_byte(frames: list[bytes]) -> list[bytes]:
    """A changed header whose CRC was made anew."""
    _, header_size, _, _ = PREFIX.unpack(frames[2][: PREFIX.size])
    text = frames[2][PREFIX.size : PREFIX.size + header_size].replace(b"2.1.197", b"2.1.198")
    payload = frames[2][PREFIX.size + header_size :]
    changed = PREFIX.pack(b"\x93SP1", len(text), len(payload), zlib.crc32(text)) + text + payload
    return [*frames[:2], changed, *frames[3:]]


def one_salt_byte(frames: list[bytes]) -> list[bytes]:
    """A changed byte in the salt, which nothing but the header knows."""
    return [*frames[:5], frames[5][:-1] + bytes([frames[5][-1] ^ 1]), *frames[6:]]


ATTACKS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], set[str], set[str]]] = {
    "one byte of a payload": (one_payload_byte, set(), {"changed"}),
    "one byte of a salt": (one_salt_byte, set(), {"changed"}),
    "one byte of a header": (one_header_byte, {"rewritten", "missing"}, {"rewritten", "missing"}),
    "a frame removed": (lambda frames: frames[:3] + frames[4:], {"rewritten", "missing"}, {"rewritten", "missing"}),
    "two frames swapped": (
        lambda frames: [frames[1], frames[0], *frames[2:]],
        {"rewritten"},
        {"rewritten"},
    ),
    "tail cut at a frame": (lambda frames: frames[:-2], {"missing"}, {"missing"}),
    "content forged, checksums made anew": (forged, {"rewritten", "missing"}, {"rewritten", "missing"}),
    "rolled back to an older copy": (lambda frames: frames[:5], {"missing"}, {"missing"}),
    "a frame torn": (
        lambda frames: [*frames[:-1], frames[-1][:-3]],
        {"damaged", "missing"},
        {"damaged", "missing"},
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("quick", [True, False])
def test_every_attack_is_noticed(case: Case, name: str, quick: bool) -> None:
    """Each attack is found with the content, and all but a changed payload by the headers alone."""
    attack, by_headers, by_content = ATTACKS[name]
    case.write(attack(case.frames()))
    verdict = case.verdict(quick=quick)
    expected = by_headers if quick else by_content
    found = {each.kind for each in verdict.integrity} | {
        finding.kind for anchor in verdict.anchors for finding in anchor.findings
    }
    assert found == expected
    assert verdict.is_good is not bool(expected)


def test_the_run_file_and_range_are_named(case: Case) -> None:
    """What was changed is named, and by the tiles of a checkpoint also what is gone."""
    frames = case.frames()
    case.write(one_payload_byte(frames))
    (finding,) = case.verdict(quick=False).integrity
    assert finding.run_id == "0f1e2d3c-4b5a-4978-8695-000000000005"
    assert finding.path is not None
    assert finding.path.endswith("0f1e2d3c-4b5a-4978-8695-000000000005.jsonl")
    assert (finding.leaf, finding.start) == (5, 0)
    case.write(frames[:7])
    gone = [each for each in case.verdict(quick=True).anchors[1].findings if each.leaf is not None]
    assert [(each.leaf, each.run_id) for each in gone] == [
        (number, f"0f1e2d3c-4b5a-4978-8695-{number:012}") for number in (7, 8, 9)
    ]


def test_a_checkpoint_of_a_stranger_is_not_believed(case: Case, tmp_path: Path) -> None:
    """Whoever has the archive can sign a new history, but not by the key that the auditor knows."""
    case.write(forged(case.frames()))
    make_key(tmp_path / "stranger")
    stranger = load_signer(tmp_path / "stranger", origin_of("test"))
    log = Log(case.packs)
    note = stranger.sign(log.checkpoint(origin_of("test")).note())
    write_tiles(tmp_path / "new", log.tree, [frame.text for frame in log.frames], note.encode())
    verdict = audit(case.packs, [load_anchor(tmp_path / "new")], [case.key])
    assert verdict.anchors[0].is_consistent
    assert verdict.anchors[0].is_signed is False
    assert not verdict.is_good


def test_the_log_has_every_frame_of_every_pack(case: Case) -> None:
    """Leaves are the header bytes as they stand, pack by pack."""
    log = Log(case.packs)
    assert packs_in(case.packs) == [1]
    assert not [each for each in scan_frames(case.packs, 1) if isinstance(each, Damage)]
    data = pack_path(case.packs, 1).read_bytes()
    assert all(frame.text in data for frame in log.frames)
    assert os.path.getsize(pack_path(case.packs, 1)) == sum(map(len, case.frames()))  # noqa: PTH202


def test_a_frame_of_before_the_salt_is_checked_by_its_digest(case: Case) -> None:
    """Packs of earlier versions have `sha256` in place of `commit`, and are read and audited as they are."""
    frames = case.frames()
    _, size, _, _ = PREFIX.unpack(frames[5][: PREFIX.size])
    header = msgspec.json.decode(frames[5][PREFIX.size : PREFIX.size + size])
    content = zstandard.ZstdDecompressor().decompress(frames[5][PREFIX.size + size :])
    del header["commit"]
    for digest, is_whole in ((sha256(content).hexdigest(), True), ("0" * 64, False)):
        old = built(msgspec.json.encode(header | {"sha256": digest}), content)
        case.write([*frames[:5], old, *frames[6:]])
        assert audit(case.packs).is_whole is is_whole


def test_a_header_does_not_tell_a_content_that_can_be_guessed(case: Case) -> None:
    """The digest of the content alone is nowhere in the headers, and equal contents have other headers."""
    found = [each for each in scan_frames(case.packs, 1) if isinstance(each, Frame) and each.header.length]
    commits = set()
    for frame in found:
        salt, content = content_of(case.packs, frame.place, frame.header)
        assert len(salt) == 16
        assert sha256(content).hexdigest().encode() not in frame.text
        commits.add(frame.header.commit)
    assert len(commits) == len(found)
