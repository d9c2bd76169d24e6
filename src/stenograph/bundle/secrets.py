"""The mask of this machine: its secret variables, the user's list, and the rules of the configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from stenograph import config
from stenograph.errors import unreadable
from stenograph.redact.event import EventMask, sharing_mask
from stenograph.redact.known import SHORTEST, secrets_among
from stenograph.redact.rules import with_rules_of
from stenograph.redact.user_rules import UserRules

LIST = "STENOGRAPH_SECRETS"


def known_secrets() -> set[str]:
    """The values of environment variables with secret names, and each line of the file that the variable names.

    Raises `SourceError` when that file cannot be read: it was named so that nothing in it is shared.
    """
    return secrets_among(os.environ) | _listed(os.environ.get(LIST) or "")


def machine_mask(secrets: Iterable[str] = ()) -> EventMask:
    """A mask for readers, with all secrets that this machine and its configuration know.

    Raises `SourceError` for a list or a file of rules that cannot be read, `InvalidRule` for a rule that cannot be
    used, and `InvalidConfig`.
    """
    return sharing_mask({*known_secrets(), *secrets}, own_rules())


def own_rules() -> UserRules:
    """The rules, names and exceptions of the configuration (`[redact]`)."""
    path = config.value("redact.rules")
    rules = None if path is None else with_rules_of(_read(Path(path)), path)
    return UserRules(rules, config.value("redact.names") or (), config.value("redact.keep") or ())


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError as error:
        raise unreadable(path, error) from error


def _listed(path: str) -> set[str]:
    if not path:
        return set()
    try:
        lines = Path(path).read_text("utf-8", "surrogateescape").splitlines()
    except OSError as error:
        raise unreadable(Path(path), error) from error
    return {line.strip() for line in lines if len(line.strip()) >= SHORTEST}
