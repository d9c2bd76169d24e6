"""`steno doctor`: what works, what does not, and what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import click

from stenograph.archive.store.home import Home, home_of
from stenograph.cli.installing.ways import states
from stenograph.cli.options import json_option, print_json, write_text
from stenograph.errors import SourceError
from stenograph.journal.place import recording_root
from stenograph.journal.problems import noted_problems
from stenograph.query.doctor.examination import examine
from stenograph.query.doctor.report import AgentState, ArchiveState, HookState, JournalState, Report
from stenograph.query.retention import Expiry
from stenograph.render.control_chars import on_one_line
from stenograph.render.figures import amount, duration
from stenograph.runs.retention import expired_runs
from stenograph.runs.syncing import wanted_roots


@click.command(
    "doctor",
    epilog="Example: steno doctor --json",
)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Check agents' files, the archive, journals and hooks, and report what needs attention.

    Per agent: files seen and kept, how much of them is understood, versions, types never seen before, subagents whose
    file is missing, runs that only the archive still has. For the archive: sizes, permissions, the last sync, the
    watcher, free space. Nothing is changed. Exit code 1 when something needs attention; each such line says what to do.
    """
    home = home_of()
    roots = wanted_roots(home, None, (), ())
    report = examine(home, roots, states(), noted_problems(recording_root()), _expiries(home))
    if as_json:
        print_json(report)
    else:
        write_text(_text(report))
    ctx.exit(0 if report.ok else 1)


def _expiries(home: Home) -> list[Expiry]:
    """What `[[keep]]` rules no longer keep; an index that cannot be read is reported elsewhere."""
    try:
        return expired_runs(home)
    except (SourceError, sqlite3.DatabaseError):
        return []


def _text(report: Report) -> str:
    lines = [
        *_archive(report.archive),
        *(line for each in report.agents for line in _agent(each)),
        *(_journals(each) for each in report.journals),
        *(_hooks(each) for each in report.hooks if _is_here(each)),
        "",
    ]
    lines += [f"{'✗' if each.needs_person else '·'} {each.message}" for each in report.findings]
    needed = sum(each.needs_person for each in report.findings)
    lines.append("nothing needs you" if report.ok else f"{needed} of these need you (✗)")
    return "".join(f"{on_one_line(line)}\n" for line in lines)


def _archive(state: ArchiveState) -> list[str]:
    if not state.is_there:
        return [f"archive   {state.path}: not there"]
    synced = "never" if state.last_sync_age_s is None else f"{duration(state.last_sync_age_s)} ago"
    watcher = "no watcher" if state.watcher_pid is None else f"watched by process {state.watcher_pid}"
    counts = f"{amount(state.runs)} runs, {amount(state.events)} events" if state.is_readable else "cannot be read"
    sizes = f"{amount(state.kept_bytes)}B kept, {amount(state.index_bytes)}B index, {amount(state.free_bytes)}B free"
    return [f"archive   {state.path}: {counts}; {sizes}", f"          last sync {synced}, {watcher}"]


def _agent(state: AgentState) -> list[str]:
    files = f"{state.files_seen} files seen, {state.files_kept} kept ({amount(state.bytes_kept)}B)"
    others = {"waiting": state.files_waiting, "gone": state.files_gone, "not understood": state.files_skipped}
    files += "".join(f", {number} {what}" for what, number in others.items() if number)
    lines = [f"{state.agent:<9} {files}; {state.runs} runs"]
    if state.lines:
        flaws = {"unknown": state.unknown, "malformed": state.malformed, "failed": state.failed}
        problems = "".join(f", {number} {what}" for what, number in flaws.items() if number)
        share = 100 * state.understood / state.lines
        lines.append(
            f"          {amount(state.lines)} lines, {share:.4g} % understood ({amount(state.system)} system){problems}"
        )
    if state.versions:
        lines.append(f"          versions: {', '.join(list(state.versions)[:8])}")
    return lines


def _journals(state: JournalState) -> str:
    live = f", {state.being_written} being written" if state.being_written else ""
    return f"journals  {state.folder}: {state.journals} ({amount(state.bytes)}B){live}"


def _is_here(state: HookState) -> bool:
    """Whether the agent is on this machine."""
    return bool(state.installed or state.problem) or Path(state.settings).parent.is_dir()


def _hooks(state: HookState) -> str:
    return f"hooks     {state.agent}: {', '.join(state.installed) or 'none'} ({state.settings})"
