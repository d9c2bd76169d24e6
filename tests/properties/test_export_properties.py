"""What `steno export` gives back: the very bytes that the agent wrote, whatever they are."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from archive_cases import SESSION, claude_line, session_path, subagent_path, synced, written
from stenograph.archive import IndexReader
from stenograph.archive.store.restore import restore_files
from strategies import examples

NAMES = ("b1.txt", "b2.txt", "x.meta.json", "résumé \u202e.txt")
lines = st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line), max_size=5)
outputs = st.dictionaries(st.sampled_from(NAMES), st.binary(max_size=200), max_size=3)


def parked(number: int, name: str, **more: object) -> bytes:
    """The line of a result whose text is in a file of its own."""
    text = f"<persisted-output>\nOutput too large. Full output saved to: /tmp/{name}\n\nPreview\n</persisted-output>"
    return claude_line(number, "result", text, **more)


def below(folder: Path) -> dict[str, bytes]:
    """Every file in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@examples(60)
@given(lines, lines, outputs, outputs, st.none() | st.binary(max_size=200), st.booleans())
def test_files_come_back_as_they_were(
    first: list[bytes],
    more: list[bytes],
    before: dict[str, bytes],
    after: dict[str, bytes],
    sidecar: bytes | None,
    is_ended: bool,
) -> None:
    """Sessions, subagents, sidecars and parked outputs, in UTF-8 or not, kept at once or as they came."""
    with tempfile.TemporaryDirectory() as folder:
        home, archive, out = (Path(folder, name) for name in ("home", "archive", "out"))
        root = home / ".claude" / "projects"
        place = session_path(home).with_suffix("") / "tool-results"
        place.mkdir(parents=True)

        def park(found: dict[str, bytes], number: int) -> list[bytes]:
            for name, data in found.items():
                (place / name).write_bytes(data)
            return [parked(number + each, name) for each, name in enumerate(found)]

        written(session_path(home), claude_line(1), *park(before, 10), *(line + b"\n" for line in first))
        subagent = written(subagent_path(home), claude_line(2, isSidechain=True, agentId="a1"), b"\n".join(more))
        if sidecar is not None:
            subagent.with_suffix(".meta.json").write_bytes(sidecar)
        synced(home, archive)
        if after and sidecar is not None:
            subagent.with_suffix(".meta.json").write_bytes(b"{}" + sidecar)
        written(session_path(home), *park(after, 20), b"\n".join(more), b"\n" if is_ended else b"")
        written(subagent, *(parked(30 + each, name, isSidechain=True, agentId="a1") for each, name in enumerate(after)))
        synced(home, archive)
        with IndexReader(archive) as opened:
            paths = restore_files(opened, SESSION, out)
        assert below(out) == below(root)
        assert sorted(paths) == sorted(out / name for name in below(root))
