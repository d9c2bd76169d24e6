"""Access: a token in the printed address, which becomes a cookie that outlives the server."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from stenograph.errors import StoreError

FILE = "serve.key"
_BYTES = 32


class Access:
    """The token, the cookie and one-time tokens, all made from one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._once: set[str] = set()
        self.token = self._derived("token")
        """For the printed address and for `Authorization: Bearer`."""
        self.cookie = self._derived("cookie")
        """The value of the cookie; the same after a restart, so that an open page keeps working."""

    def token_for_one_use(self) -> str:
        """A token for the browser that is opened: other users of the machine may see the arguments of its process."""
        token = secrets.token_urlsafe(24)
        self._once.add(token)
        return token

    def accepts_token(self, token: str) -> bool:
        """Whether a token opens the page; a one-time token is used up by this."""
        sent = token.encode()
        if hmac.compare_digest(sent, self.token.encode()):
            return True
        for each in self._once:
            if hmac.compare_digest(sent, each.encode()):
                self._once.discard(each)
                return True
        return False

    def accepts_cookie(self, value: str) -> bool:
        """Whether a cookie is ours."""
        return hmac.compare_digest(value.encode(), self.cookie.encode())

    def accepts_bearer(self, token: str) -> bool:
        """Whether a program may read the API."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def _derived(self, purpose: str) -> str:
        return hmac.new(self._key, purpose.encode(), hashlib.sha256).hexdigest()[:48]


def key_of(folder: Path) -> bytes:
    """The key kept in a folder, which only its owner can read; created if there is none. Raises `StoreError`."""
    path = folder / FILE
    try:
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            key = path.read_bytes()
            if path.stat().st_mode & 0o077 or len(key) < _BYTES:  # others may know it, or it is torn
                path.unlink()
                return key_of(folder)
            return key
        with os.fdopen(fd, "wb") as file:
            key = secrets.token_bytes(_BYTES)
            file.write(key)
    except OSError as error:
        message = f"cannot keep the key of the page in {path}: {error.strerror}; check its permissions"
        raise StoreError(message, str(path)) from error
    return key
