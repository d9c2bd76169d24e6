"""C2SP signed notes: a text, an empty line, and lines with signatures by named keys.

A verifier believes a note when a key that it knows has signed the text; signatures by other keys are passed over. Two
kinds of signature are known: Ed25519 over the text (type 1), and a witness's cosignature over the text and a time
(type 4).
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec import Struct

from stenograph.errors import BadSignature, InvalidEvidence, MissingExtra

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ED25519, COSIGNATURE = 1, 4
_DASH = "\u2014 "


class Signature(Struct, frozen=True):
    """One signature line."""

    name: str
    key_id: bytes
    value: bytes
    """What follows the key id."""

    @property
    def line(self) -> str:
        """The line in a note."""
        return f"{_DASH}{self.name} {b64encode(self.key_id + self.value).decode()}\n"


class Note(Struct, frozen=True):
    """A text with its signatures."""

    text: str
    """Ends with a line feed."""
    signatures: tuple[Signature, ...] = ()

    def encode(self) -> bytes:
        """The bytes of the note."""
        return (self.text + "\n" + "".join(each.line for each in self.signatures)).encode()

    def with_signature(self, signature: Signature) -> Note:
        """The note with one more signature; the same key's earlier one is replaced."""
        others = (each for each in self.signatures if (each.name, each.key_id) != (signature.name, signature.key_id))
        return Note(self.text, (*others, signature))


def parse_note(data: bytes) -> Note:
    """Read a note. Raises `InvalidEvidence` for other bytes."""
    try:
        whole = data.decode()
    except UnicodeDecodeError:
        raise InvalidEvidence("not a signed note: it is not UTF-8") from None
    text, separator, lines = whole.rpartition("\n\n")
    if not separator or not lines.endswith("\n"):
        raise InvalidEvidence("not a signed note: an empty line and signatures must follow the text")
    return Note(text + "\n", tuple(map(_signature, lines[:-1].split("\n"))))


def _signature(line: str) -> Signature:
    name, separator, encoded = line.removeprefix(_DASH).partition(" ")
    value = _decoded(encoded)
    if not line.startswith(_DASH) or not separator or not _is_name(name) or value is None or len(value) <= 4:
        raise InvalidEvidence(f"not a signature line of a note: {line[:80]!r}")
    return Signature(name, value[:4], value[4:])


def _decoded(text: str) -> bytes | None:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _is_name(name: str) -> bool:
    return bool(name) and "+" not in name and not any(character.isspace() for character in name)


class VerifierKey(Struct, frozen=True):
    """A public key that a verifier knows: `name+hex key id+base64(type and key)`."""

    name: str
    kind: int
    public: bytes

    @property
    def key_id(self) -> bytes:
        """The four bytes by which signatures name the key."""
        return sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.public).digest()[:4]

    def encode(self) -> str:
        """The key as text, for verifiers."""
        return f"{self.name}+{self.key_id.hex()}+{b64encode(bytes([self.kind]) + self.public).decode()}"

    def check(self, note: Note) -> int | None:
        """Check the note's signature by this key; the time of a cosignature, 0 for others, None where there is none.

        Raises `BadSignature` for a signature that does not fit the text.
        """
        for each in note.signatures:
            if (each.name, each.key_id) == (self.name, self.key_id):
                return self._checked(note, each)
        return None

    def _checked(self, note: Note, signature: Signature) -> int:
        require_cryptography()
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        value, at, message = signature.value, 0, note.text.encode()
        if self.kind == COSIGNATURE:
            at = int.from_bytes(value[:8])
            message, value = cosigned(note.text, at), value[8:]
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(value, message)
        except InvalidSignature:
            raise BadSignature(f"the signature of {self.name} does not fit: the checkpoint was changed") from None
        return at


def parse_verifier_key(text: str) -> VerifierKey:
    """Read a verifier key. Raises `InvalidEvidence` for another text, or a key of an unknown kind."""
    name, _, rest = text.strip().partition("+")
    key_id, _, encoded = rest.partition("+")
    data = _decoded(encoded)
    if not _is_name(name) or not data or data[0] not in (ED25519, COSIGNATURE) or len(data) != 33:
        raise InvalidEvidence(f"not a verifier key for Ed25519: {text[:80]!r}; it has the form name+hash+key")
    key = VerifierKey(name, data[0], data[1:])
    if key.key_id.hex() != key_id:
        raise InvalidEvidence(f"the verifier key of {name} is damaged: its hash does not fit; copy it again")
    return key


def cosigned(text: str, at: int) -> bytes:
    """The bytes that a witness signs."""
    return f"cosignature/v1\ntime {at}\n{text}".encode()


class Signer:
    """Signs notes by an Ed25519 key under a name."""

    def __init__(self, name: str, key: Ed25519PrivateKey) -> None:
        if not _is_name(name):
            raise InvalidEvidence(f"{name!r} cannot name a key: no spaces and no +")
        self._key = key
        self.verifier_key = VerifierKey(name, ED25519, key.public_key().public_bytes_raw())

    def sign(self, note: Note) -> Note:
        """The note with this key's signature."""
        value = self._key.sign(note.text.encode())
        return note.with_signature(Signature(self.verifier_key.name, self.verifier_key.key_id, value))


def require_cryptography() -> None:
    """Raise `MissingExtra` where cryptography is not installed, which signing and checking need."""
    try:
        import cryptography  # noqa: F401  # only whether it is there
    except ImportError as error:
        raise MissingExtra("cryptography", "evidence") from error
