"""The proof that the bytes of a run are in a signed log: for each frame its leaf, its original bytes and a proof.

The chain is: original bytes, whose digest is in the leaf; leaf, whose hash the proof leads to the root; root, which the
checkpoint signs. The key that checks the signature comes from elsewhere, never from beside the proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from stenograph.archive.pack import Header, payload_of
from stenograph.errors import InvalidEvidence, RunNotFound
from stenograph.evidence.anchor import CHECKPOINT
from stenograph.evidence.checkpoint import checkpoint_of
from stenograph.evidence.inclusion import InclusionProof, parse_inclusion_proof
from stenograph.evidence.note import Note, VerifierKey, parse_note
from stenograph.evidence.signing import SignedLog


class ProofReport(Struct, frozen=True, kw_only=True):
    """What a look at a proof found."""

    origin: str
    size: int
    leaves: int
    bytes: int
    is_signed: bool | None
    """By one of the keys that were given; None where none was."""
    findings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Everything fits, and a key that was given has signed it."""
        return not self.findings


def proof_of_run(signed: SignedLog, kept: Path, run_id: str) -> Iterator[tuple[str, bytes]]:
    """The files of the proof with their names. Raises `RunNotFound` where the log has nothing of the run."""
    files = {
        frame.header.file
        for frame in signed.log.frames
        if frame.header.about is not None and frame.header.about.run_id == run_id
    }
    leaves = [
        index
        for index, frame in enumerate(signed.log.frames)
        if frame.header.file in files and frame.header.kind in ("bytes", "side", "moved")
    ]
    if not leaves:
        raise RunNotFound(f"the archive keeps no file of the run {run_id}; steno ls lists the runs", run_id)
    yield CHECKPOINT, signed.note.encode()
    for index in leaves:
        frame = signed.log.frames[index]
        proof = InclusionProof(index, tuple(signed.log.tree.inclusion_proof(index)), signed.note)
        yield f"leaf-{index}.json", frame.text
        yield f"leaf-{index}.tlog-proof", proof.encode()
        yield f"original-{index}", payload_of(kept, frame.place, frame.header.length, frame.header.sha256)


def check_run_proof(files: Mapping[str, bytes], keys: Sequence[VerifierKey]) -> ProofReport:
    """Check the files of a proof against each other, and the checkpoint by the keys."""
    try:
        note = parse_note(files[CHECKPOINT])
    except KeyError:
        raise InvalidEvidence("not a proof: it has no checkpoint") from None
    checkpoint = checkpoint_of(note)
    findings: list[str] = []
    leaves = sorted(int(name[5:-5]) for name in files if name.startswith("leaf-") and name.endswith(".json"))
    for index in leaves:
        findings += _wrong(files, index, note)
    if not leaves:
        findings.append("it has no leaf")
    is_signed = any(key.check(note) is not None for key in keys) if keys else None
    if is_signed is False:
        findings.append("no key that was given has signed the checkpoint")
    return ProofReport(
        origin=checkpoint.origin,
        size=checkpoint.size,
        leaves=len(leaves),
        bytes=sum(len(data) for name, data in files.items() if name.startswith("original-")),
        is_signed=is_signed,
        findings=tuple(findings),
    )


def _wrong(files: Mapping[str, bytes], index: int, note: Note) -> Iterator[str]:
    entry = files[f"leaf-{index}.json"]
    original = files.get(f"original-{index}")
    try:
        proof = parse_inclusion_proof(files[f"leaf-{index}.tlog-proof"])
        header = msgspec.json.decode(entry, type=Header)
    except (KeyError, InvalidEvidence, msgspec.MsgspecError):
        yield f"leaf {index} has no proof"
        return
    if proof.checkpoint.text != note.text or proof.index != index or proof.proves(entry) is None:
        yield f"leaf {index} is not in the log by its proof"
    digest = sha256(original).hexdigest() if original else ""
    if original is None or len(original) != header.length or digest != header.sha256:
        yield f"the original bytes of leaf {index} are not what the leaf says"
