"""Measure everything and write the table of docs/benchmarks.md."""

from __future__ import annotations

import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from bench import (
    agents,
    archive,
    bundle,
    collector,
    evidence,
    export,
    facts,
    formats,
    growing,
    hook,
    html,
    journal,
    lake,
    live,
    openai,
    otlp,
    page,
    page_peer,
    push,
    query,
    redact,
)
from bench.measure import Row, machine

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
ROOMS = {
    "journal": journal.rows,
    "formats": formats.rows,
    "agents": agents.rows,
    "collector": collector.rows,
    "openai": openai.rows,
    "hook": hook.rows,
    "html": html.rows,
    "export": export.rows,
    "otlp": otlp.rows,
    "archive": archive.rows,
    "growing": growing.rows,
    "query": query.rows,
    "bundle": bundle.rows,
    "redact": redact.rows,
    "evidence": evidence.rows,
    "facts": facts.rows,
    "page": page.rows,
    "page-peer": page_peer.rows,
    "live": live.rows,
    "push": push.rows,
    "lake": lake.rows,
}


def main() -> None:
    """`python -m bench [ROOM…]`: all rooms, or the ones named (then the page is left alone)."""
    wanted = sys.argv[1:]
    measured: list[Row] = []
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        for name, rows in ROOMS.items():
            if not wanted or name in wanted:
                measured += rows(Path(folder))
    table = _table(measured)
    print(table)
    if not wanted:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")


def _table(rows: list[Row]) -> str:
    head = f"Measured {datetime.now(UTC):%Y-%m-%d} on {machine()}.\n\n"
    head += "| job | goal | measured | limit in the same run | met |\n"
    met = {True: "yes", False: "no", None: ""}
    lines = [f"| {row.job} | {row.goal} | {row.ours} | {row.limit} | {met[row.met]} |" for row in rows]
    return head + "|---|---|---|---|---|\n" + "\n".join(lines)


main()
