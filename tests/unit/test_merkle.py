"""The Merkle tree against the definition of RFC 6962, written out naively here."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given, strategies

from stenograph.merkle import EMPTY_ROOT, MerkleTree, is_consistent, is_included, leaf_hash

LEAVES = [leaf_hash(b"leaf %d" % number) for number in range(301)]
TREE = MerkleTree(LEAVES)
SIZES = strategies.integers(0, 300)


def naive_root(leaves: list[bytes]) -> bytes:
    """The definition, word by word."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + naive_root(leaves[:split]) + naive_root(leaves[split:])).digest()


@pytest.mark.parametrize("size", range(301))
def test_every_size_has_the_root_of_the_definition(size: int) -> None:
    """Roots of the growing tree, and of each of its beginnings, are those of the definition."""
    assert TREE.root(size) == naive_root(LEAVES[:size])
    assert MerkleTree(LEAVES[:size]).root() == naive_root(LEAVES[:size])


def test_the_known_answers_of_the_rfc() -> None:
    """The roots that implementations of Certificate Transparency agree on for eight known leaves."""
    entries = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    tree = MerkleTree(leaf_hash(bytes.fromhex(entry)) for entry in entries)
    assert tree.root(0) == EMPTY_ROOT
    assert tree.root(1).hex() == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    assert tree.root(8).hex() == "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"


@given(size=strategies.integers(1, 300), data=strategies.data())
def test_every_leaf_of_every_size_is_proved(size: int, data: strategies.DataObject) -> None:
    """A proof holds for its leaf, index, size and root, and for nothing else."""
    index = data.draw(strategies.integers(0, size - 1))
    proof, root = TREE.inclusion_proof(index, size), TREE.root(size)
    assert is_included(LEAVES[index], index, size, proof, root)
    assert not is_included(LEAVES[(index + 1) % 301], index, size, proof, root)
    assert not is_included(LEAVES[index], index + 1, size, proof, root)
    assert not is_included(LEAVES[index], index, size, [*proof, root], root)
    assert not is_included(LEAVES[index], index, size, proof, TREE.root(size - 1))
    if proof:
        assert not is_included(LEAVES[index], index, size, proof[:-1], root)
        flipped = data.draw(strategies.integers(0, len(proof) - 1))
        changed = [*proof]
        changed[flipped] = bytes([changed[flipped][0] ^ 1]) + changed[flipped][1:]
        assert not is_included(LEAVES[index], index, size, changed, root)


@given(old=SIZES, size=SIZES, data=strategies.data())
def test_every_pair_of_sizes_is_consistent(old: int, size: int, data: strategies.DataObject) -> None:
    """An older tree begins a newer one by its proof; a tree with another leaf does not."""
    old, size = sorted((old, size))
    proof = TREE.consistency_proof(old, size)
    assert is_consistent(old, TREE.root(old), size, TREE.root(size), proof)
    if 0 < old < size:
        changed = [*LEAVES[:size]]
        changed[data.draw(strategies.integers(0, old - 1))] = leaf_hash(b"forged")
        other = MerkleTree(changed)
        assert not is_consistent(old, TREE.root(old), size, other.root(), other.consistency_proof(old))
        assert not is_consistent(old, TREE.root(old), size, TREE.root(size), proof[:-1])
        assert not is_consistent(old, TREE.root(old), size, TREE.root(size), [*proof, TREE.root(size)])


def test_what_is_not_in_the_tree_is_refused() -> None:
    """Sizes and indexes beyond the tree are the caller's mistake."""
    for wrong in (lambda: TREE.root(302), lambda: TREE.inclusion_proof(5, 5), lambda: TREE.consistency_proof(6, 5)):
        with pytest.raises(ValueError, match="leaves"):
            wrong()
