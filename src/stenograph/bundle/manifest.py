"""The manifest: what a bundle holds, with the digest of every file."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from stenograph.errors import SourceError

FORMAT = "stenograph-bundle"
VERSION = 1
NAME = "manifest.json"


class BundleFile(Struct, frozen=True, kw_only=True):
    """One file of a bundle, the manifest itself aside."""

    name: str
    """Below the bundle's one folder, with slashes."""
    size: int
    sha256: str


class Counts(Struct, frozen=True, kw_only=True):
    """How much there is, and what could not be taken as it was."""

    events: int = 0
    """In `events.jsonl`."""
    child_events: int = 0
    """In `runs/`."""
    entries: int = 0
    """That the events of the run project to."""
    log_records: int = 0
    """In `logs/app.jsonl`."""
    log_entries: int = 0
    """Records of these that are transcript entries: the lines of `transcript.jsonl`."""
    log_lines_wrapped: int = 0
    """Lines of a given log that were no JSON objects; each is the `message` of a record of its own."""
    log_records_lost: int = 0
    """Records that could not be captured."""
    malformed: int = 0
    """Lines of the source that are not JSON; they are `unknown` events."""
    torn_bytes: int = 0
    """Of an unfinished line at the end of a journal, left out."""
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
    """Of the run or its prompt."""
    agent: str = ""
    """Who took it down first: the adapter or format."""
    status: str
    """`running`, `waiting`, `finished`, `failed`, `interrupted`, or `unknown` where nothing tells."""
    status_reason: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    source: str = ""
    """The file it was made from."""
    stem: str = ""
    """That file's name without its ending, which lines that name no run belong to."""
    logs: str
    """`captured` while it ran, `given` as a file, or `derived` from the events."""
    redacted: bool = False
    counts: Counts
    left_out: dict[str, str] = {}
    """Files that a bundle may have and this one has not, each with the reason."""
    problems: tuple[str, ...] = ()
    """What could not be captured."""
    files: tuple[BundleFile, ...] = ()


def write_manifest(manifest: Manifest) -> bytes:
    """The manifest as an indented document."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def read_manifest(data: bytes, path: str) -> Manifest:
    """The manifest in a document; raises `SourceError` when that is none, or newer than this program."""
    try:
        said = msgspec.json.decode(data, type=_Said)
        if said.format != FORMAT:
            raise SourceError(f"{path} is no debug bundle; steno bundle create makes one", path)
        if said.version > VERSION:
            raise SourceError(
                f"{path} has version {said.version} of the format and this program knows {VERSION}; update stenograph",
                path,
            )
        return msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"{path} has no manifest that can be read: {error}; make the bundle anew", path) from error


class _Said(Struct):
    format: str
    version: int
