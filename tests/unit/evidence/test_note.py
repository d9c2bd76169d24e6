"""Signed notes, checkpoints and proof files: what is written is read, and what was changed is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies

from stenograph.errors import BadSignature, InvalidEvidence, StoreError
from stenograph.evidence.checkpoint import Checkpoint, checkpoint_of
from stenograph.evidence.inclusion import InclusionProof, parse_inclusion_proof
from stenograph.evidence.keys import load_signer, make_key
from stenograph.evidence.note import Note, Signer, parse_note, parse_verifier_key
from stenograph.evidence.tiles import tiles_of
from stenograph.merkle import MerkleTree, leaf_hash

ORIGIN = "stenograph.local/0f1e2d3c"
ENTRIES = [b'{"frame":%d}' % number for number in range(300)]
TREE = MerkleTree(map(leaf_hash, ENTRIES))


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    """A key of our own."""
    make_key(tmp_path / "keys" / "evidence.key")
    return load_signer(tmp_path / "keys" / "evidence.key", ORIGIN)


def signed(signer: Signer, size: int = 300) -> Note:
    """A signed checkpoint."""
    return signer.sign(Checkpoint(ORIGIN, size, TREE.root(size)).note())


def test_a_damaged_verifier_key_is_refused(signer: Signer) -> None:
    """A key whose hash does not fit was copied wrongly."""
    name, key_id, encoded = signer.verifier_key.encode().split("+", 2)
    with pytest.raises(InvalidEvidence, match="hash does not fit"):
        parse_verifier_key(f"{name}+{int(key_id, 16) ^ 1:08x}+{encoded}")


def test_a_note_is_what_it_was(signer: Signer) -> None:
    """Encoding and reading give the note again, and the key that signed it accepts it."""
    note = signed(signer)
    again = parse_note(note.encode())
    assert again == note
    assert checkpoint_of(again) == Checkpoint(ORIGIN, 300, TREE.root())
    key = parse_verifier_key(signer.verifier_key.encode())
    assert key == signer.verifier_key
    assert key.check(again) == 0


@given(data=strategies.data())
def test_every_flipped_bit_is_noticed(data: strategies.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A note with one bit changed is not a note, not signed by the key, or badly signed."""
    path = tmp_path_factory.mktemp("keys") / "key"
    make_key(path)
    signer = load_signer(path, ORIGIN)
    encoded = bytearray(signed(signer).encode())
    bit = data.draw(strategies.integers(0, len(encoded) * 8 - 1))
    encoded[bit // 8] ^= 1 << bit % 8
    try:
        note = parse_note(bytes(encoded))
        assert signer.verifier_key.check(note) is None
    except InvalidEvidence:
        pass


def test_a_changed_text_is_a_bad_signature(signer: Signer) -> None:
    """The key says that the text is not what it signed."""
    data = signed(signer).encode().replace(b"\n300\n", b"\n299\n")
    with pytest.raises(BadSignature, match="changed"):
        signer.verifier_key.check(parse_note(data))


def test_a_key_is_never_written_over(tmp_path: Path) -> None:
    """A second key at the same place is refused, and the file is for its owner alone."""
    path = tmp_path / "evidence.key"
    make_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(StoreError, match="already"):
        make_key(path)


def test_an_openssh_key_signs_notes(tmp_path: Path) -> None:
    """A key made by ssh-keygen is taken as it is."""
    path = tmp_path / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    signer = load_signer(path, ORIGIN)
    assert signer.verifier_key.check(signed(signer)) == 0


def test_a_key_with_a_passphrase_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    """One line says what to do."""
    locked, other = tmp_path / "locked", tmp_path / "rsa"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret-words", "-f", str(locked)], check=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", str(other)], check=True)
    with pytest.raises(OSError, match="passphrase"):
        load_signer(locked, ORIGIN)
    with pytest.raises(InvalidEvidence, match="not an Ed25519 key"):
        load_signer(other, ORIGIN)


@given(index=strategies.integers(0, 299))
def test_a_proof_file_is_what_it_was(index: int) -> None:
    """It is read back equal, proves its entry, and no other."""
    note = Checkpoint(ORIGIN, 300, TREE.root()).note()
    note = Note(note.text, parse_note(note.encode() + "\u2014 someone AAAAAAAA\n".encode()).signatures)
    proof = InclusionProof(index, tuple(TREE.inclusion_proof(index)), note)
    again = parse_inclusion_proof(proof.encode())
    assert again == proof
    assert again.proves(ENTRIES[index]) == Checkpoint(ORIGIN, 300, TREE.root())
    assert again.proves(ENTRIES[index - 1]) is None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\n\n",
        b"no empty line\n",
        b"text\n\nno dash\n",
        "text\n\n\u2014 name notbase64!\n".encode(),
        "text\n\n\u2014 a b c\n".encode(),
    ],
)
def test_what_is_not_a_note_is_refused(text: bytes) -> None:
    """Whatever a file holds, the answer is one sentence."""
    with pytest.raises(InvalidEvidence):
        parse_note(text)


@pytest.mark.parametrize("body", ["a\n01\nAAAA\n", "a\n-1\nAAAA\n", "a\n1\nAAAA\n", "a\n\u0661\nAAAA\n", "a\n1\n"])
def test_what_is_not_a_checkpoint_is_refused(body: str) -> None:
    """Sizes are decimal without leading zeros, roots are SHA-256."""
    with pytest.raises(InvalidEvidence, match="not a checkpoint"):
        checkpoint_of(parse_note(f"{body}\n\u2014 a AAAAAAAA\n".encode()))


def test_tiles_have_the_places_and_widths_of_the_specification() -> None:
    """300 leaves: one full tile and a partial one, and the hash of the full one a level up."""
    tiles = dict(tiles_of(TREE, ENTRIES))
    assert set(tiles) == {
        "tile/0/000",
        "tile/0/001.p/44",
        "tile/1/000.p/1",
        "tile/entries/000",
        "tile/entries/001.p/44",
    }
    assert tiles["tile/0/000"] + tiles["tile/0/001.p/44"] == b"".join(map(leaf_hash, ENTRIES))
    assert tiles["tile/1/000.p/1"] == MerkleTree(map(leaf_hash, ENTRIES[:256])).root()
    assert tiles["tile/entries/001.p/44"].startswith(len(ENTRIES[256]).to_bytes(2) + ENTRIES[256])
