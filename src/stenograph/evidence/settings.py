"""The settings of `steno evidence init`: which key signs, and where checkpoints go. They contain no key."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from stenograph import config
from stenograph.archive.store.home import Home
from stenograph.atomic_file import write_atomically
from stenograph.errors import SourceError, unreadable

_FILE = "settings.json"
_KEY = "evidence.key"


class EvidenceSettings(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How checkpoints of one archive are made."""

    key: str
    """The file with the private key, outside the archive."""
    to: tuple[str, ...] = ()
    """Folders, absolute."""
    witnesses: tuple[str, ...] = ()
    """Addresses."""

    def places(self) -> list[Path]:
        """The folders that get every checkpoint, with those of the configuration."""
        return list(dict.fromkeys((*map(Path, self.to), *map(_from_config, config.value("evidence.to") or ()))))

    def all_witnesses(self) -> list[str]:
        """The witnesses, with those of the configuration."""
        return list(dict.fromkeys((*self.witnesses, *(config.value("evidence.witnesses") or ()))))


def default_key() -> Path:
    """The path of the key that signs: `[evidence] key`, else beside the configuration, so outside every archive."""
    given = config.value("evidence.key")
    return Path(given) if given else config.config_path().parent / _KEY


def _from_config(text: str) -> Path:
    return config.config_path().parent.absolute() / Path(text).expanduser()


def is_initialised(home: Home) -> bool:
    """Whether checkpoints are made of this archive."""
    return (home.evidence / _FILE).exists()


def read_settings(home: Home) -> EvidenceSettings:
    """The settings. Raises `SourceError` where `steno evidence init` was not called yet."""
    path = home.evidence / _FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=EvidenceSettings)
    except FileNotFoundError as error:
        message = f"no key signs the archive {home.path} yet; run: steno evidence init"
        raise SourceError(message, str(home.path)) from error
    except OSError as error:
        raise unreadable(path, error) from error
    except msgspec.MsgspecError as error:
        raise SourceError(f"cannot read {path}: {error}; run: steno evidence init", str(path)) from error


def write_settings(home: Home, settings: EvidenceSettings) -> None:
    """Write the settings."""
    write_atomically(home.evidence / _FILE, [msgspec.json.encode(settings) + b"\n"])
