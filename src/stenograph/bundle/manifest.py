"""The manifest: what a bundle holds, with the digest of every file."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from stenograph.errors import SourceError

FORMAT = "stenograph-bundle"
VERSION = 1
NAME = "manifest.json"


class BundleFile(Struct, frozen=True, kw_only=True):
    """One file of a bundle, except the manifest itself."""

    name: str
    """Below the bundle's one folder, with slashes."""
    size: int
    sha256: str


class Counts(Struct, frozen=True, kw_only=True):
    """How much there is, and what could not be copied unchanged."""

    events: int = 0
    """In `events.jsonl`."""
    child_events: int = 0
    """In `runs/`."""
    entries: int = 0
    """Entries of the run's events."""
    log_records: int = 0
    """In `logs/app.jsonl`."""
    log_entries: int = 0
    """Records of these that are transcript entries: the lines of `transcript.jsonl`."""
    log_lines_wrapped: int = 0
    """Lines of a given log that were not JSON objects; each is the `message` of a record of its own."""
    log_records_lost: int = 0
    """Records that could not be captured."""
    malformed: int = 0
    """Lines of the source that are not JSON; they are `unknown` events."""
    torn_bytes: int = 0
    """Bytes of an unfinished line at the end of a journal, left out."""
    replaced: int = 0
    """Characters that no UTF-8 can hold and that became U+FFFD."""


class Manifest(Struct, frozen=True, kw_only=True):
    """What `manifest.json` says."""

    format: str = FORMAT
    version: int = VERSION
    bundle_id: str
    created_at: str
    program: str
    """The program that made it, with its version."""
    run_id: str
    parent_run_id: str | None = None
    child_run_ids: tuple[str, ...] = ()
    """Runs whose events are in `runs/`."""
    missing_run_ids: tuple[str, ...] = ()
    """Runs that were called and whose journals were not found."""
    session_ids: tuple[str, ...] = ()
    name: str = ""
    """The name of the run or its prompt."""
    agent: str = ""
    """The adapter or format that recorded it first."""
    status: str
    """`running`, `waiting`, `finished`, `failed`, `interrupted` or `unknown`."""
    status_reason: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    source: str = ""
    """The file it was made from."""
    stem: str = ""
    """That file's name without its ending: the run id of lines that name no run."""
    logs: str
    """`captured` while it ran, `given` as a file, or `derived` from the events."""
    redacted: bool = False
    counts: Counts
    left_out: dict[str, str] = {}
    """Optional files that this bundle does not have, each with the reason."""
    problems: tuple[str, ...] = ()
    """What could not be captured."""
    files: tuple[BundleFile, ...] = ()


def write_manifest(manifest: Manifest) -> bytes:
    """The manifest as an indented document."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def read_manifest(data: bytes, path: str) -> Manifest:
    """The manifest in a document; raises `SourceError` when it is not a manifest, or newer than this program."""
    try:
        header = msgspec.json.decode(data, type=_Header)
        if header.format != FORMAT:
            raise SourceError(f"{path} is not a debug bundle; steno bundle create makes one", path)
        if header.version > VERSION:
            raise SourceError(
                f"{path} has version {header.version} of the format, this program knows {VERSION}; update stenograph",
                path,
            )
        return msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"{path} has no manifest that can be read: {error}; make a new bundle", path) from error


class _Header(Struct):
    format: str
    version: int
