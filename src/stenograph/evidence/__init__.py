"""Proof that a history was not changed: Merkle tree, signed checkpoints, inclusion and consistency proofs.

The formats are those of RFC 6962 and C2SP (signed notes, checkpoints, tlog-proof, tlog-tiles), so that programs that
we did not write can check them. Hashing and proofs need the standard library only; signing needs `cryptography`.
"""
