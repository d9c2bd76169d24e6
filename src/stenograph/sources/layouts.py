"""The files of every format that is installed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from stenograph.formats.base import FormatSpec
from stenograph.formats.registry import formats
from stenograph.sources.layout import SessionFiles


@cache
def layout_of(format_name: str) -> SessionFiles:
    """The files of a format; a format that is not installed has only single files."""
    return SessionFiles(formats().get(format_name))


def placed_formats() -> list[FormatSpec]:
    """The formats whose agents have a folder of their own."""
    return [spec for spec in formats().values() if spec.is_placed]


@cache
def sidecar_suffixes() -> tuple[str, ...]:
    """The endings of sidecars: files beside a transcript that are not transcripts."""
    layouts = (spec.layout for spec in formats().values() if spec.layout is not None)
    return tuple(sorted({each.sidecar.suffix for each in layouts if each.sidecar is not None}))


@cache
def transcript_suffixes() -> tuple[str, ...]:
    """The endings of transcripts."""
    layouts = (spec.layout for spec in formats().values() if spec.layout is not None)
    return tuple(sorted({".jsonl", ".ndjson", ".json", ".db"}.union(*(each.suffixes() for each in layouts))))


@cache
def formats_with_parts() -> tuple[str, ...]:
    """The formats whose sessions are kept in several files that are read together."""
    return tuple(name for name in formats() if layout_of(name).has_parts)


def main_of(path: Path, format_name: str | None = None) -> Path | None:
    """The main file of the session that a file is a part of, in any format or in this one; None for other files."""
    names = formats_with_parts() if format_name is None else (format_name,)
    return next((main for name in names if (main := layout_of(name).main_of(path)) is not None), None)


def parts_of(path: Path, format_name: str | None = None) -> list[Path]:
    """The further files that are read with a file, if it is the main one of such a session."""
    names = formats_with_parts() if format_name is None else (format_name,)
    return [part for name in names for part in layout_of(name).parts(path).values()]
