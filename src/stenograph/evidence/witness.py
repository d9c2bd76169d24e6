"""Asking a witness (C2SP tlog-witness) to cosign a checkpoint: it does so only for a log that grew from what it saw."""

from __future__ import annotations

from base64 import b64encode

from stenograph.errors import InvalidEvidence, WitnessRefused
from stenograph.evidence.note import Note, Signature, parse_note
from stenograph.merkle import MerkleTree

_SECONDS = 20.0
_CONFLICT = 409
_REASONS = {
    400: "it has seen a longer log than ours",
    403: "it does not know our key",
    404: "it does not know our log; give it the origin and the verifier key",
    422: "our log does not go on from what it has seen",
}


def ask_witness(url: str, tree: MerkleTree, note: Note, seen: int) -> list[Signature]:
    """The witness's cosignatures; `seen` is the size of the log that it saw last. Raises `WitnessRefused`."""
    size = int(note.text.split("\n")[1])
    status, body = _post(url, _request(tree, note, min(seen, size), size))
    if status == _CONFLICT and body.strip().isdigit() and int(body) <= size:
        status, body = _post(url, _request(tree, note, int(body), size))
    if status != 200:
        reason = _REASONS.get(status, f"it answers {status}" + (" with another size" if status == _CONFLICT else ""))
        raise WitnessRefused(f"the witness {url} did not sign: {reason}", url)
    try:
        return list(parse_note(note.text.encode() + b"\n" + body).signatures)
    except InvalidEvidence as error:
        raise WitnessRefused(f"the witness {url} did not answer with signatures: {error}", url) from error


def _request(tree: MerkleTree, note: Note, old: int, size: int) -> bytes:
    proof = "".join(f"{b64encode(each).decode()}\n" for each in tree.consistency_proof(old, size))
    return f"old {old}\n{proof}\n".encode() + note.encode()


def _post(url: str, body: bytes) -> tuple[int, bytes]:
    from urllib.error import HTTPError, URLError  # with http and ssl: only where a witness is asked
    from urllib.request import Request, urlopen

    address = f"{url.rstrip('/')}/add-checkpoint"
    if not address.startswith(("http://", "https://")):
        raise WitnessRefused(f"{url} is not the address of a witness; it begins with https://", url)
    try:
        with urlopen(Request(address, data=body, method="POST"), timeout=_SECONDS) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()
    except (URLError, OSError, ValueError) as error:
        raise WitnessRefused(f"the witness {url} cannot be reached: {error}; try again later", url) from error
