"""The Merkle tree of RFC 6962: roots, inclusion proofs and consistency proofs over a growing list of leaves.

A leaf is hashed with a 0x00 before it and a pair of nodes with a 0x01, so that no leaf can pass for a node. A tree of
n leaves is the pair of the largest full tree with fewer than n leaves and the tree of the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

HASH_SIZE = 32
EMPTY_ROOT = sha256(b"").digest()


def leaf_hash(entry: bytes) -> bytes:
    """The hash of a leaf."""
    return sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node."""
    return sha256(b"\x01" + left + right).digest()


class MerkleTree:
    """A tree that grows at its right end. Keeps the hash of every complete subtree: two hashes a leaf."""

    def __init__(self, leaf_hashes: Iterable[bytes] = ()) -> None:
        self.levels: list[list[bytes]] = [[]]
        """By height: the hashes of complete subtrees, from left to right. Level 0 has the leaves."""
        for each in leaf_hashes:
            self.append(each)

    @property
    def size(self) -> int:
        """The number of leaves."""
        return len(self.levels[0])

    def append(self, leaf: bytes) -> None:
        """Add the hash of a leaf."""
        level, added = 0, leaf
        while True:
            hashes = self.levels[level]
            hashes.append(added)
            if len(hashes) % 2:
                return
            added = node_hash(hashes[-2], hashes[-1])
            level += 1
            if level == len(self.levels):
                self.levels.append([])

    def root(self, size: int | None = None) -> bytes:
        """The root of the first `size` leaves; of all of them without it."""
        size = self._checked(self.size if size is None else size)
        return EMPTY_ROOT if size == 0 else self._hash(0, size)

    def inclusion_proof(self, index: int, size: int | None = None) -> list[bytes]:
        """The hashes beside the path from a leaf to the root of the first `size` leaves, from the leaf upwards."""
        size = self._checked(self.size if size is None else size)
        if not 0 <= index < size:
            raise ValueError(f"leaf {index} is not in a tree of {size} leaves")
        start, end, proof = 0, size, []
        while end - start > 1:
            middle = start + _split(end - start)
            if index < middle:
                proof.append(self._hash(middle, end))
                end = middle
            else:
                proof.append(self._hash(start, middle))
                start = middle
        return proof[::-1]

    def consistency_proof(self, old: int, size: int | None = None) -> list[bytes]:
        """The hashes that show that the first `old` leaves begin the first `size` leaves."""
        size = self._checked(self.size if size is None else size)
        if not 0 <= old <= size:
            raise ValueError(f"a tree of {old} leaves does not begin one of {size}")
        if old in (0, size):
            return []
        start, end, proof, is_known = 0, size, [], True
        while old != end - start:
            middle = _split(end - start)
            if old <= middle:
                proof.append(self._hash(start + middle, end))
                end = start + middle
            else:
                proof.append(self._hash(start, start + middle))
                start, old, is_known = start + middle, old - middle, False
        if not is_known:
            proof.append(self._hash(start, end))
        return proof[::-1]

    def _checked(self, size: int) -> int:
        if not 0 <= size <= self.size:
            raise ValueError(f"the tree has {self.size} leaves, not {size}")
        return size

    def _hash(self, start: int, end: int) -> bytes:
        """The hash of a range that is a subtree: `start` is a multiple of the largest power of two below its length."""
        parts: list[bytes] = []
        while start < end:
            height = min((end - start).bit_length() - 1, (start & -start).bit_length() - 1 if start else 64)
            parts.append(self.levels[height][start >> height])
            start += 1 << height
        found = parts.pop()
        while parts:
            found = node_hash(parts.pop(), found)
        return found


class RootTree:
    """A tree that grows at its right end and gives its root only: keeps one hash for each bit of its size."""

    def __init__(self) -> None:
        self.size = 0
        self._edge: list[bytes] = []
        """The hashes of the complete subtrees, from the largest to the smallest."""

    def append(self, entry: bytes) -> None:
        """Add a leaf by its entry."""
        added, size = leaf_hash(entry), self.size
        while size & 1:
            added = node_hash(self._edge.pop(), added)
            size >>= 1
        self._edge.append(added)
        self.size += 1

    def root(self) -> bytes:
        """The root of all leaves so far."""
        if not self._edge:
            return EMPTY_ROOT
        *larger, found = self._edge
        for each in reversed(larger):
            found = node_hash(each, found)
        return found


def is_included(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether a proof shows that the tree of that size and root has this leaf hash at that index."""
    if not 0 <= index < size:
        return False
    node, last, found = index, size - 1, leaf
    for each in proof:
        if last == 0:
            return False
        if node % 2 or node == last:
            found = node_hash(each, found)
            while node % 2 == 0 and node:
                node, last = node >> 1, last >> 1
        else:
            found = node_hash(found, each)
        node, last = node >> 1, last >> 1
    return last == 0 and found == root


def is_consistent(old: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether a proof shows that the tree of `size` leaves begins with the tree of `old` leaves."""
    if old > size or old < 0:
        return False
    if old == size:
        return not proof and old_root == root
    if old == 0:
        return not proof and old_root == EMPTY_ROOT
    path = list(proof)
    if old & (old - 1) == 0:
        path.insert(0, old_root)
    if not path:
        return False
    node, last = old - 1, size - 1
    while node % 2:
        node, last = node >> 1, last >> 1
    first = second = path[0]
    for each in path[1:]:
        if last == 0:
            return False
        if node % 2 or node == last:
            first, second = node_hash(each, first), node_hash(each, second)
            while node % 2 == 0 and node:
                node, last = node >> 1, last >> 1
        else:
            second = node_hash(second, each)
        node, last = node >> 1, last >> 1
    return last == 0 and first == old_root and second == root


def _split(length: int) -> int:
    """The largest power of two below a length of at least 2."""
    return 1 << ((length - 1).bit_length() - 1)
