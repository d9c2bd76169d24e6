"""Keys that sign checkpoints: one of our own, outside the archive, or an OpenSSH key of the user's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from stenograph.errors import InvalidEvidence, SourceError, StoreError, unreadable
from stenograph.evidence.note import Signer, VerifierKey, parse_verifier_key, require_cryptography

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def make_key(path: Path) -> None:
    """Write a new Ed25519 key as PKCS8 PEM, mode 0600. Raises `StoreError` rather than overwrite a file."""
    require_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = Ed25519PrivateKey.generate()
    data = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(data)
    except FileExistsError as error:
        raise StoreError(f"{path} is there already; give another file to --key, or use this key", str(path)) from error
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; check the folder", str(path)) from error


def load_verifier_key(path: Path) -> VerifierKey:
    """The verifier key in a file. Raises `SourceError` for a file that has none."""
    try:
        return parse_verifier_key(path.read_text("utf-8"))
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise InvalidEvidence(f"{path} is not a verifier key; give the file with it", str(path)) from error


def load_signer(path: Path, name: str) -> Signer:
    """The signer of that name by a key file: PKCS8 PEM or OpenSSH, without a passphrase."""
    return Signer(name, _loaded(path))


def _loaded(path: Path) -> Ed25519PrivateKey:
    require_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    load = load_ssh_private_key if b"OPENSSH PRIVATE KEY" in data else load_pem_private_key
    try:
        key = load(data, None)
    except TypeError:
        raise SourceError(f"{path} has a passphrase; sign with ssh-keygen -Y instead, or give another key") from None
    except (ValueError, UnsupportedAlgorithm):
        raise InvalidEvidence(f"{path} is not a private key in PEM or OpenSSH form; give an Ed25519 key") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidEvidence(f"{path} is not an Ed25519 key; make one: ssh-keygen -t ed25519")
    return key
