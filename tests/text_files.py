"""Plain-text transcripts that were written, and what `steno text` would have written."""

from __future__ import annotations

import tempfile
from pathlib import Path

from stenograph import read_events
from stenograph.text_transcripts import ThreadTranscripts


def texts_below(root: Path) -> dict[str, str]:
    """The files below a root, by their paths there."""
    files = (path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_text("utf-8") for path in files}


def texts_of(journal: Path) -> dict[str, str]:
    """The files that `steno text` writes of a journal."""
    with tempfile.TemporaryDirectory() as folder:
        ThreadTranscripts(folder).write(read_events(journal))
        return texts_below(Path(folder))
