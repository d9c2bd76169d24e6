"""Secrets of this machine, which are masked wherever they stand: variables that are named so, and a list of yours."""

from __future__ import annotations

import os
from pathlib import Path

from stenograph.errors import unreadable
from stenograph.redact.known import SHORTEST, secrets_among

LIST = "STENOGRAPH_SECRETS"


def known_secrets() -> set[str]:
    """The values of environment variables that are secret by their names, and each line of the file in the variable.

    Raises `SourceError` when that file cannot be read: it was named so that nothing of it is shared.
    """
    return secrets_among(os.environ) | _listed(os.environ.get(LIST) or "")


def _listed(path: str) -> set[str]:
    if not path:
        return set()
    try:
        lines = Path(path).read_text("utf-8", "surrogateescape").splitlines()
    except OSError as error:
        raise unreadable(Path(path), error) from error
    return {line.strip() for line in lines if len(line.strip()) >= SHORTEST}
