"""`README.txt`: what the files of a bundle are, for readers who have only unzip and jq."""

from __future__ import annotations

from collections.abc import Sequence

from stenograph.bundle.manifest import Manifest
from stenograph.bundle.page import PAGE

_TEXT = """\
Debug bundle of {what}

run       {run_id}
status    {status}
agent     {agent}
made      {created_at} by {program}

{explained}manifest.json       what is here, with a SHA-256 of every file
transcript.html     the run as a page for a browser{page}
transcript.jsonl    the run for people: one entry per line (the transcript.entry log records)
logs/app.jsonl      every log record, {logs}
events.jsonl        the run for programs: its journal, one event per line
runs/               the journals of the runs that it called
metrics.json        tokens, tools, times
error.json          why it failed, if it did
proof/              that the agent's bytes are in a signed log, if that was asked for
session/            what the session held before and after, if there was one
environment/        system, Python, packages, variables, git

With stenograph, if you have it:

  steno bundle verify FILE.zip
  steno show events.jsonl
  steno query FILE.zip "SELECT tool_name, count(*) FROM tool_calls GROUP BY 1"

With unzip and jq alone:

  unzip FILE.zip
  jq -r '.context | select(.role) | "[\\(.source)] \\(.role): \\(.content)"' transcript.jsonl
  jq -c 'select(.type == "tool.call") | [.seq, .payload.name, .payload.input]' events.jsonl
  jq -c 'select(.level == "ERROR" or .level == "WARNING")' logs/app.jsonl
"""
_LOGS = {
    "captured": "captured while it ran",
    "given": "as given when the bundle was made",
    "derived": "which are the entries of the run: nothing else was logged",
}


def readme(manifest: Manifest, explained: Sequence[str]) -> bytes:
    """The text for one bundle; `explained` are the lines that say what happened in the run."""
    story = "".join(f"  {line}\n" if line else "\n" for line in explained[1:])  # the first names the run again
    return _TEXT.format(
        what=manifest.name or "a run",
        run_id=manifest.run_id or "unknown",
        status=manifest.status,
        agent=manifest.agent or "stenograph",
        created_at=manifest.created_at,
        program=manifest.program,
        page=f" (left out: {manifest.left_out[PAGE]})" if PAGE in manifest.left_out else "",
        logs=_LOGS[manifest.logs],
        explained=f"What happened:\n\n{story}\nThe files:\n\n" if story else "",
    ).encode("utf-8", "replace")
