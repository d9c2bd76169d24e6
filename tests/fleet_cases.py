"""What tests of the fleet share: an archive that grows, and what a store has of it, read without our readers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import zstandard

from archive_cases import claude_line, codex_line, session_path, synced, thread_path, written
from stenograph.archive.store.home import home_of
from stenograph.fleet.store.objects import Objects, open_store
from stenograph.fleet.store.push import push


def session_id(number: int) -> str:
    """The id of the session of that number."""
    return f"0f1e2d3c-4b5a-4978-8695-{number:012}"


def grown(folder: Path, *, sessions: int = 3, lines: int = 4, first: int = 1) -> Path:
    """The archive in a folder, after so many sessions grew by so many lines each; two agents, one sync."""
    home, archive = folder / "home", folder / "archive"
    for number in range(1, sessions + 1):
        path = session_path(home, session_id(number))
        more = [claude_line(first + each, session=session_id(number)) for each in range(lines)]
        written(path, *more, claude_line(first + lines, "assistant", session=session_id(number)))
    if not thread_path(home).exists():
        written(thread_path(home), codex_line(0))
    written(thread_path(home), *(codex_line(first + each) for each in range(lines)))
    synced(home, archive)
    return archive


def folder_store(folder: Path) -> Objects:
    """A store in a folder."""
    return open_store(f"file://{folder / 'store'}")


def cloned(folder: Path) -> tuple[Path, Path]:
    """An archive that was sent, and a copy of the machine; each has a session more that the other one has not."""
    original = folder / "original"
    grown(original)
    push(home_of(original / "archive"), folder_store(folder))
    shutil.copytree(original, folder / "copy")
    for number, each in enumerate((original, folder / "copy")):
        session = session_id(100 + number)
        written(session_path(each / "home", session), claude_line(200 + number, session=session))
        synced(each / "home", each / "archive")
    return original / "archive", folder / "copy" / "archive"


def archive_id(archive: Path) -> str:
    """The id in `kept/archive.json`."""
    found: str = json.loads((archive / "kept" / "archive.json").read_bytes())["id"]
    return found


def stored_files(store: Objects, archive: str, kind: str) -> dict[str, bytes]:
    """The packs (`bytes`) or `journals` that a store has, put together; there must be no gap and no overlap."""
    found: dict[str, bytes] = {}
    for key, _ in store.entries(f"v1/{archive}/{kind}/"):
        *_, name, start = key.split("/")
        assert int(start) == len(found.get(name, b"")), key
        found[name] = found.get(name, b"") + store.get(key)
    return found


def segment_text(data: bytes) -> bytes:
    """What `zstd -dc` gives of a segment."""
    text: bytes = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    return text


def stored_events(store: Objects, archive: str) -> list[dict[str, Any]]:
    """Every event of the newest generation in a store, by its revision; segments must be one behind the other."""
    generation = store.folders(f"v1/{archive}/events/")[-1]
    found, following = [], 1
    for key, _ in store.entries(f"v1/{archive}/events/{generation}/"):
        header, *lines = map(json.loads, segment_text(store.get(key)).splitlines())
        assert header["first"] == following == int(key.rpartition("/")[2])
        following = header["last"] + 1
        for block in header["blocks"]:
            found += [{**line, "revision": block["revision"]} for line in lines[: block["lines"]]]
            del lines[: block["lines"]]
        assert not lines
    return found


def kept_files(archive: Path) -> dict[str, bytes]:
    """The packs of an archive."""
    return {path.stem: path.read_bytes() for path in home_of(archive).kept.glob("*.pack")}


def indexed_events(archive: Path) -> list[dict[str, Any]]:
    """Every event of an archive's index, by run and number."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(archive / "index.db")) as index:
        blocks = index.execute("SELECT lines FROM blocks JOIN runs ON run = runs.id ORDER BY run_id, first_seq")
        lines = [line for (data,) in blocks for line in zstandard.decompress(data).split(b"\n")]
    return sorted(map(json.loads, lines), key=_key)


def newest(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events without those that were numbered anew since, by run and number."""
    last: dict[str, int] = {}
    for event in events:
        last[event["run_id"]] = max(event["revision"], last.get(event["run_id"], 0))
    kept = [event for event in events if event["revision"] == last[event["run_id"]]]
    return sorted(({k: v for k, v in event.items() if k != "revision"} for event in kept), key=_key)


def _key(event: dict[str, Any]) -> tuple[str, int]:
    return event["run_id"], event["seq"]
