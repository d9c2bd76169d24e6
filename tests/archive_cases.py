"""What tests of the archive share: small sessions, a sync, and an index as plain rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stenograph.archive.index.schema import open_index
from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import roots_of
from stenograph.archive.store.home import home_of
from stenograph.archive.store.kept_file import KeptBytes
from stenograph.archive.writer import Store

SESSION = "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f0"
THREAD = "01998a7b-1c2d-7e3f-8a4b-5c6d7e8f9a0b"
_VOLATILE = {"files": {"size", "mtime_ns", "inode", "is_present", "unchecked", "next_range"}}


def claude_line(number: int, kind: str = "user", text: str = "", session: str = SESSION, **more: Any) -> bytes:
    """A line of a Claude Code session; `number` makes it unlike all others."""
    text = text or f"line {number} says helloWorld"
    record: dict[str, Any] = {
        "type": "user",
        "sessionId": session,
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "timestamp": f"2026-03-01T10:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "cwd": "/home/user/project",
        "version": "2.1.197",
        "message": {"role": "user", "content": text},
    }
    if kind == "assistant":
        usage = {"input_tokens": 10, "output_tokens": number, "cache_read_input_tokens": 5}
        content = [{"type": "text", "text": text}]
        message = {"id": f"msg_{number:08}", "role": "assistant", "model": "claude-x", "content": content}
        record |= {"type": "assistant", "message": {**message, "usage": usage, "stop_reason": "end_turn"}}
    elif kind == "call":
        call = {"type": "tool_use", "id": f"toolu_{number:08}", "name": "Bash", "input": {"command": text}}
        message = {"id": f"msg_{number:08}", "role": "assistant", "model": "claude-x", "content": [call]}
        record |= {"type": "assistant", "message": {**message, "usage": {"input_tokens": 3, "output_tokens": 2}}}
    elif kind == "result":
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number - 1:08}", "content": text}
        record["message"] = {"role": "user", "content": [result]}
    return json.dumps(record | more).encode() + b"\n"


def codex_line(number: int, text: str = "") -> bytes:
    """A line of a Codex thread; 0 is the one that says whose it is."""
    at = f"2026-03-01T11:{number // 60 % 60:02}:{number % 60:02}.000Z"
    if number == 0:
        payload: dict[str, Any] = {"id": THREAD, "timestamp": at, "cwd": "/home/user/other", "cli_version": "0.166.0"}
        return json.dumps({"timestamp": at, "type": "session_meta", "payload": payload}).encode() + b"\n"
    content = [{"type": "input_text", "text": text or f"codex line {number}"}]
    payload = {"type": "message", "role": "user", "content": content}
    return json.dumps({"timestamp": at, "type": "response_item", "payload": payload}).encode() + b"\n"


def session_path(home: Path, session: str = SESSION) -> Path:
    """Where Claude Code keeps a session below a home folder."""
    return home / ".claude" / "projects" / "-home-user-project" / f"{session}.jsonl"


def subagent_path(home: Path, name: str = "a1") -> Path:
    """Where it keeps a subagent of the session."""
    return session_path(home).with_suffix("") / "subagents" / f"agent-{name}.jsonl"


def thread_path(home: Path) -> Path:
    """Where Codex keeps a thread."""
    return home / ".codex" / "sessions" / "2026" / "03" / "01" / f"rollout-2026-03-01T11-00-00-{THREAD}.jsonl"


def written(path: Path, *lines: bytes) -> Path:
    """A file with these lines appended."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(b"".join(lines))
    return path


def synced(home: Path, archive: Path, **options: Any) -> Summary:
    """A sync of the agents' folders below a home."""
    with Store(home_of(archive), **options) as store:
        return sync(store, roots_of({}, home, archive))


def rows(archive: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """What a query on the index gives."""
    index = open_index(archive, readonly=True)
    try:
        return index.execute(query, values).fetchall()
    finally:
        index.close()


def whole_index(archive: Path) -> dict[str, list[dict[str, Any]]]:
    """Every row of the index but those that only say what the last sync saw, and parsers; and every word of it."""
    index = open_index(archive, readonly=True)
    try:
        found = {}
        for table in [
            "facts",
            "files",
            "frames",
            "ranges",
            "runs",
            "witnesses",
            "sources",
            "blocks",
            "events",
            "calls",
            "usage",
            "usage_keys",
            "usage_shared",
            "model_calls",
            "model_call_messages",
            "model_call_sources",
            "calls_sums",
            "usage_sums",
            "shares_sums",
        ]:
            cursor = index.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
            names = [column[0] for column in cursor.description]
            skipped = _VOLATILE.get(table, set())
            found[table] = [
                {name: value for name, value in zip(names, row, strict=True) if name not in skipped} for row in cursor
            ]
        # How many numbers blocks ever had is the history of one index: those of removed runs are not used again. The
        # formats are noted with files that the last sync left out.
        found["facts"] = [row for row in found["facts"] if row["name"] not in ("blocks", "formats")]
        index.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, instance)")
        found["words"] = index.execute("SELECT * FROM vocabulary ORDER BY doc, offset, term").fetchall()
        return found
    finally:
        index.close()


def check_kept(archive: Path) -> None:
    """Every file that was taken for a transcript is kept as it is now."""
    index = open_index(archive, readonly=True)
    kept = KeptBytes(index, archive / "kept")
    for number, path, version in index.execute("SELECT id, path, version FROM files").fetchall():
        if Path(path).exists():
            assert b"".join(kept.chunks(number, version)) == Path(path).read_bytes()
    index.close()
