"""The seal: a bundle ends with the digest of everything before it, as the comment of the zip.

Digests in the manifest tell which file was changed; the seal tells that anything was, including bytes
of the zip that no reader uses. It does not prove an author: anyone who makes a bundle can seal it.
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path

from stenograph.errors import unreadable

MARK = b"stenograph bundle sha256:"
_DIGEST = 64
SIZE = len(MARK) + _DIGEST
_SEAL = re.compile(re.escape(MARK) + rb"[0-9a-f]{64}")
_CHUNK = 1 << 20


def has_seal(path: Path) -> bool:
    """Whether a file ends as our bundles do; its content is not checked."""
    try:
        with path.open("rb") as file:
            return _SEAL.fullmatch(_tail(file.fileno())) is not None
    except OSError:
        return False


def is_sealed(path: Path) -> bool:
    """Whether every byte of a file is as it was sealed; raises `SourceError`."""
    digest, tail = fingerprint(path)
    return tail == MARK.decode() + digest


def fingerprint(path: Path) -> tuple[str, str]:
    """The digest of a file up to its seal, and the seal; raises `SourceError`.

    Two files with the same fingerprint have the same bytes.
    """
    try:
        with path.open("rb") as file:
            tail = _tail(file.fileno())
            digest, left = sha256(), max(0, os.fstat(file.fileno()).st_size - _DIGEST)
            while left and (chunk := file.read(min(left, _CHUNK))):
                digest.update(chunk)
                left -= len(chunk)
            return digest.hexdigest(), tail.decode("latin-1")
    except OSError as error:
        raise unreadable(path, error) from error


def _tail(fd: int) -> bytes:
    return os.pread(fd, SIZE, max(0, os.fstat(fd).st_size - SIZE))
