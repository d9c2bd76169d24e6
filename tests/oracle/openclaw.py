"""Counts the rows of an OpenClaw session, which are pi's entries, with `json` and SQL. Knows nothing of stenograph."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from oracle import pi

count = pi.count


def count_database(path: Path) -> dict[str, Any]:
    """What a database holds whose rows are not compressed yet."""
    query = "SELECT event_json FROM transcript_events ORDER BY session_id, seq"
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        return pi.count_entries([json.loads(text) for (text,) in connection.execute(query)])
