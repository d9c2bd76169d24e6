"""Pages: a large session of an agent as one HTML file, beside the programs that people use for it."""

from __future__ import annotations

import json
import shutil
import subprocess
import venv
from pathlib import Path

from bench.formats import GOLDEN, _lengthened
from bench.measure import Row, median_spent, spent_by, stopwatch

SIZE = 20_000_000
PEERS = Path(__file__).parent.parent / ".cache" / "html-peers"
SESSION = "550e8400-e29b-41d4-a716-446655440000"


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    session = folder / f"{SESSION}.jsonl"
    _write_session(session)
    size = session.stat().st_size / 1e6
    made = [_page(session, form, size) for form in ("html", "markdown")]
    session.unlink()
    return made


def _write_session(path: Path) -> None:
    """One session of real lines: the golden cases with the texts of real ones, told again and again with new ids."""
    files = sorted(each for each in (GOLDEN / "claude_code").rglob("*.jsonl") if each.name != "expected.jsonl")
    lines = [_lengthened(line) for each in files for line in each.read_bytes().split(b"\n") if line]
    with path.open("wb") as file:
        turn = 0
        while file.tell() < SIZE:
            turn += 1
            for line in lines:
                if file.tell() < SIZE:
                    file.write(_renamed(line, turn) + b"\n")


def _renamed(line: bytes, turn: int) -> bytes:
    """The line of another turn: ids of messages and calls are new, the session is one."""
    try:
        record = json.loads(line)
    except ValueError:
        return line
    if isinstance(record, dict) and "sessionId" in record:
        record["sessionId"] = SESSION
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    for ids in ('"toolu_', '"msg_', '"uuid":"', '"parentUuid":"'):
        text = text.replace(ids, f"{ids}{turn}_")
    return text.encode("utf-8", "replace")


def _page(session: Path, form: str, size: float) -> Row:
    page = session.with_suffix(f".{form}")
    took = median_spent(lambda: spent_by("-m", "stenograph", "show", session, "--as", form, "-o", page))
    written = page.stat().st_size / 1e6
    page.unlink()
    return Row(
        f"a Claude session of {size:.0f} MB as {form}, start-up included",
        "≤ 1.5 s of processor, ≤ 150 MB RSS",
        f"{took.seconds:.2f} s ({took.processor:.2f} s of processor), {took.peak:.0f} MB; {written:.0f} MB written",
        _peers(session) if form == "html" else "",
        took.processor <= 1.5 and took.peak <= 150,
    )


def _peers(session: Path) -> str:
    """The same session by others, when they can be installed."""
    if not (PEERS / "bin" / "claude-code-log").exists():
        venv.create(PEERS, with_pip=True)
        command = [PEERS / "bin" / "pip", "install", "--quiet", "claude-code-log", "claude-code-transcripts"]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return "no peer could be installed"
    told = []
    commands = {
        "claude-code-log": [str(session), "-o", str(session.parent / "peer.html")],
        "claude-code-transcripts": ["json", str(session), "-o", str(session.parent / "peer")],
    }
    for name, arguments in commands.items():
        with stopwatch() as took:
            command = [str(PEERS / "bin" / name), *arguments]
            done = subprocess.run(command, capture_output=True, check=False, cwd=session.parent)
        told.append(f"{name} {took[0]:.1f} s" if done.returncode == 0 else f"{name} fails")
    shutil.rmtree(session.parent / "peer", ignore_errors=True)
    (session.parent / "peer.html").unlink(missing_ok=True)
    return ", ".join(told)
