"""The files of every format that is installed."""

from __future__ import annotations

from functools import cache

from stenograph.formats.base import FormatSpec
from stenograph.formats.registry import formats
from stenograph.sources.layout import SessionFiles


@cache
def layout_of(format_name: str) -> SessionFiles:
    """The files of a format; those of a format that is not installed stand alone."""
    return SessionFiles(formats().get(format_name))


def placed_formats() -> list[FormatSpec]:
    """The formats whose files have a place of their own."""
    return [spec for spec in formats().values() if spec.is_placed]


@cache
def sidecar_suffixes() -> tuple[str, ...]:
    """What the names of sidecars end with: files beside a transcript that are not one."""
    layouts = (spec.layout for spec in formats().values() if spec.layout is not None)
    return tuple(sorted({each.sidecar.suffix for each in layouts if each.sidecar is not None}))


@cache
def transcript_suffixes() -> tuple[str, ...]:
    """What the names of transcripts end with."""
    layouts = (spec.layout for spec in formats().values() if spec.layout is not None)
    return tuple(sorted({".jsonl", ".ndjson", ".json", ".db"}.union(*(each.suffixes() for each in layouts))))
