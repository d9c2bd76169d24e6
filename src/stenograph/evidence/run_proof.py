"""The proof that the bytes of a run are in a signed log: for each frame its leaf, its original bytes and a proof.

The chain is: the original bytes, whose digest is in the leaf; the leaf, whose hash leads by the proof to the root; the
root, which the checkpoint signs. The key that checks the signature must come from elsewhere, not from the proof's
files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from stenograph.archive.store.pack import Header, content_of, is_content
from stenograph.errors import InvalidEvidence, RunNotFound
from stenograph.evidence.anchor import CHECKPOINT
from stenograph.evidence.checkpoint import checkpoint_of
from stenograph.evidence.inclusion import InclusionProof, parse_inclusion_proof
from stenograph.evidence.note import Note, VerifierKey, parse_note
from stenograph.evidence.signing import SignedLog


class ProofReport(Struct, frozen=True, kw_only=True):
    """The outcome of checking a proof."""

    origin: str
    size: int
    leaves: int
    bytes: int
    is_signed: bool | None
    """Whether one of the given keys has signed it; None where no key was given."""
    findings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything matches, and a given key has signed it."""
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
        salt, data = content_of(kept, frame.place, frame.header)
        yield f"original-{index}", data
        if salt:
            yield f"salt-{index}", salt


def check_run_proof(files: Mapping[str, bytes], keys: Sequence[VerifierKey], run_id: str | None = None) -> ProofReport:
    """Check the files of a proof against each other, the checkpoint by the keys, and the run by `run_id`, if given."""
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
    elif run_id is not None and run_id not in _runs(files, leaves):
        findings.append(f"it is the proof of another run than {run_id}")
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


def _runs(files: Mapping[str, bytes], leaves: Sequence[int]) -> set[str]:
    found = set()
    for index in leaves:
        try:
            about = msgspec.json.decode(files[f"leaf-{index}.json"], type=Header).about
        except msgspec.MsgspecError:
            continue
        if about is not None:
            found.add(about.run_id)
    return found


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
    if original is None or not is_content(header, files.get(f"salt-{index}", b""), original):
        yield f"the original bytes of leaf {index} are not what the leaf says"
