"""docs/parity.md, from the accounts of all agents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from otlp_parity import table
from parity import AGENTS, CHILD, DETOURS, FACTS, IGNORED, LEFT_OUT, MAIN, UNREPORTED, Account, Row, rows_of
from stenograph.transcript import TranscriptEntry

_PAGE = """\
# The same task, agent by agent

One task, given to every agent: a prompt, a thought, a shell command, a file to read, a command that fails, a file that
is not there, a subagent and last words, with Chinese, Japanese and Korean text in between. A scripted model made the
real programs do it: {versions}.
What each of them left on disk was read as canonical events, and these are the entries they give.

The types {ignored} are left out, as in every comparison of agents: what a
program tells of itself is its own business. A failed tool is marked `(error)`.

This page is written by `tests/docs/test_parity.py` from the golden cases named `parity`. `make test` fails when it is
no longer true; `make agents` and `make more-agents` run the programs again and compare.

## The agent

{main}

## Its subagent

{child}

Codex keeps a subagent as a run of its own, the others as a source of the run that asked for it.

## What comes with the entries

{facts}

## What is not reported, and why

{unreported}

## What takes more steps

{detours}

## Frameworks through OpenTelemetry

What seven frameworks send by OTLP ([how to](how-to/receive-opentelemetry.md)), each given the same task, read from
the golden cases of [otlp](formats/otlp.md). What is not sent is not guessed.

{frameworks}

- **CrewAI** and **AutoGen** send no model calls by themselves; with the instrumentation of the library that talks to
  the model they do.
- **Google ADK** sends no content unless two variables of the environment ask for it; its thinking is plain text beside
  the answer.
- **OpenAI Agents** names no conversation, replaces the reason of a tool's failure, and counts neither cached nor
  reasoning tokens.
- **smolagents** and **CrewAI** name no conversation. **LangChain** drops the text of thinking.
- The case of AutoGen and CrewAI has one turn and no refused request; that of smolagents no second turn.
"""


def page(accounts: Mapping[str, Account]) -> str:
    """The page."""
    return _PAGE.format(
        versions=", ".join(f"{agent.name} {agent.version}" for agent in AGENTS.values()),
        ignored=", ".join(f"`{name}`" for name in sorted(IGNORED)),
        main=_entries(MAIN, {name: account.main for name, account in accounts.items()}),
        child=_entries(CHILD, {name: account.child for name, account in accounts.items()}),
        facts=_facts(accounts),
        unreported=_unreported(),
        frameworks=table(),
        detours="\n".join(f"- **{AGENTS[name].name}**: {detour.reason}" for name, detour in DETOURS.items()),
    )


def _entries(rows: tuple[Row, ...], told: Mapping[str, list[TranscriptEntry]]) -> str:
    cells = {
        (name, row.what): _cell(entry)
        for name, account in told.items()
        for row, entry in zip(rows_of(name, rows), account, strict=True)
    }
    lines: list[Row] = []
    for row in rows:
        lines.append(row)
        lines += [more for detour in DETOURS.values() if detour.after == row.what for more in detour.rows]
    return _table("what happens", ((row.what, [cells.get((name, row.what), "") for name in AGENTS]) for row in lines))


def _cell(entry: TranscriptEntry) -> str:
    name = f" {entry.tool_name}" if entry.entry_type == "tool_use" else ""
    return f"`{entry.entry_type}`{name}{' (error)' if 'error' in (entry.metadata or {}) else ''}"


def _facts(accounts: Mapping[str, Account]) -> str:
    given = {name: account.facts() for name, account in accounts.items()}
    return _table(
        "what is recorded", ((fact, ["yes" if given[name][fact] else "no" for name in AGENTS]) for fact in FACTS)
    )


def _unreported() -> str:
    lines = []
    for name, missing in UNREPORTED.items():
        lines += [f"- **{AGENTS[name].name}**"]
        left_out = LEFT_OUT.get(name, {})
        for reason in dict.fromkeys(left_out.values()):
            lines += [f"  - {', '.join(row for row in left_out if left_out[row] == reason)}. {reason}"]
        lines += [f"  - {fact}. {reason}" for fact, reason in missing.items()]
    return "\n".join(lines)


def _table(first: str, rows: Iterable[tuple[str, list[str]]]) -> str:
    head = [first, *(agent.name for agent in AGENTS.values())]
    lines = [head, ["---"] * len(head), *([what, *cells] for what, cells in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
