"""An agent's settings file: read, and replaced whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from stenograph.errors import SourceError, StoreError, unreadable
from stenograph.formats.layout import Home


class Change(Struct, frozen=True, kw_only=True):
    """What was done to a settings file."""

    settings: str
    command: str
    """What the agent calls."""
    added: tuple[str, ...] = ()
    """Hooks, or the server, that now call us by this command and did not before."""
    removed: tuple[str, ...] = ()
    """Hooks, or the server, that called us before and do not any more, or now by another command."""
    backup: str | None = None
    """The copy of the old file; None if nothing was changed or no file existed."""
    note: str | None = None
    """What the user should know or do."""
    also: tuple[Change, ...] = ()
    """What was done to further files."""


def our_program() -> list[str]:
    """The full path of `steno`, since the agent's PATH is not known."""
    beside = Path(sys.executable).with_name("steno")
    steno = str(beside) if beside.is_file() else shutil.which("steno")
    if steno is None:
        return [sys.executable, "-P", "-m", "stenograph"]
    return [os.path.abspath(steno)]  # noqa: PTH100  # a link to it stays a link


def is_our_program(words: list[str]) -> bool:
    """Whether these words start Stenograph, from this installation or another one."""
    return bool(words) and (words[-2:] == ["-m", "stenograph"] or Path(words[0]).name == "steno")


def gone_program(words: list[str]) -> str | None:
    """The program that these words start, if it does not exist any more."""
    return words[0] if words and shutil.which(words[0]) is None else None


def path_of(settings: Home) -> Path:
    """Where the agent's file is, by our environment."""
    return Path(settings.path(os.environ, str(Path.home())))


def followed(path: Path) -> Path:
    """The file itself: a link to it stays a link."""
    try:
        return path.resolve() if path.is_symlink() else path.absolute()
    except (OSError, RuntimeError) as error:  # a link to itself
        raise SourceError(f"cannot follow {path}: {error}; check the link", str(path)) from error


def read_settings(path: Path) -> str | None:
    """The text of a settings file; None if it does not exist."""
    try:
        return path.read_bytes().decode("utf-8")  # not as text, which would lose the line ends
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{path} is not UTF-8 text ({error.reason}); correct it first; nothing was changed"
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error


def may_call_us(path: Path) -> bool:
    """Whether a file that cannot be parsed may hold a call of ours.

    JSON with comments that does not name us does not: some agents accept such JSON, and the user need not correct it.
    """
    try:
        data = path.read_bytes()
    except OSError:
        return True
    return b"steno" in data or not (b"//" in data or b"/*" in data)


def refused(path: Path, why: str) -> SourceError:
    """The exception for settings that cannot be changed safely."""
    return SourceError(f"{path} cannot be changed: {why}; correct it first; nothing was changed", str(path))


def replace_file(path: Path, text: str | None, new: str) -> str | None:
    """Replace the settings, whole or not at all; returns the path of the copy of the old ones."""
    if text is not None and text.count("\r\n") == text.count("\n") > 0:
        new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    backup = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o7777 if text is not None else 0o600
        if text is not None:
            backup = path.with_name(f"{path.name}.{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.bak")
            _write(backup, text, mode)
        scratch = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        try:
            _write(scratch / path.name, new, mode)
            (scratch / path.name).replace(path)
        finally:
            with suppress(OSError):
                shutil.rmtree(scratch)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; nothing was changed", str(path)) from error
    return None if backup is None else str(backup)


def document(settings: dict[str, Any], before: str | None) -> str:
    """The settings as JSON, indented as they were before."""
    indent = _indentation(before)
    text = json.dumps(settings, indent=indent, ensure_ascii=False) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can hold
        return json.dumps(settings, indent=indent) + "\n"
    return text


def _write(path: Path, text: str, mode: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(fd, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123  # a descriptor
        file.write(text)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def _indentation(text: str | None) -> int | str:
    """How the file is indented: two spaces unless its second line says otherwise."""
    lines = (text or "").split("\n")
    blank = lines[1][: len(lines[1]) - len(lines[1].lstrip())] if len(lines) > 1 else ""
    return blank or 2
