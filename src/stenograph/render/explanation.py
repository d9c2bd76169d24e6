"""An explanation as text: short, most important first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stenograph.fold.explain import Explanation, Failure, FileFacts, ToolFacts, TurnFacts
from stenograph.render.figures import amount, cost_words, counted, duration, tokens
from stenograph.render.section import section, short

_MOST = 10
"""Rows of a list that are shown; the rest is counted."""
_LONGEST = 110


def explanation_lines(run: Explanation) -> Iterator[str]:
    """The lines, without line breaks."""
    totals = run.totals
    yield f"run {run.run_id}"
    yield f"ended    {_end(run)}"
    yield f"took     {_join([_seconds(run), tokens(totals.tokens), cost_words(run.cost_usd, run.cost_is_partial)])}"
    yield (
        f"did      {counted(totals.turns, 'turn')}, {counted(totals.tool_calls, 'tool call')} "
        f"({totals.failed_calls} failed, {totals.open_calls} open), {counted(totals.errors, 'error')}, "
        f"{counted(totals.subagents, 'subagent')}"
    )
    yield from _section("asked", (_asked(turn) for turn in run.turns if turn.prompt or turn.number))
    yield from _section("changed", map(_file, run.files))
    yield from _section(
        "failed", [*map(_failure, run.failures), *(f"#{error.seq} {error.message}" for error in run.errors)]
    )
    yield from _section("time by tool", map(_tool, run.tools))
    yield from _section("time and tokens by turn", map(_turn, run.turns))
    total = sum(each.chars for each in run.context) or 1
    filling = (f"{each.chars / total:4.0%}  {each.what} ({amount(each.chars)} characters)" for each in run.context)
    longest = f", longest input {amount(run.largest_input)} tokens" if run.largest_input else ""
    yield from _section(f"what filled the context{longest}", filling)
    yield from _section("last answer", run.answer.splitlines())


def _section(title: str, rows: Iterable[str]) -> Iterator[str]:
    return section(title, map(_short, rows), _MOST, "explain")


def _end(run: Explanation) -> str:
    return "unknown" if run.verdict is None else _join([run.verdict.status, run.verdict.reason])


def _seconds(run: Explanation) -> str:
    return "" if run.span.seconds is None else duration(run.span.seconds)


def _asked(turn: TurnFacts) -> str:
    return f"#{turn.seq} {turn.prompt}"


def _file(file: FileFacts) -> str:
    return f"{file.path}  +{file.added} -{file.removed}  {', '.join(file.kinds)}, {counted(file.changes, 'change')}"


def _failure(failure: Failure) -> str:
    times = "" if failure.times == 1 else f" {failure.times} times"
    fixed = "never worked later" if failure.fixed_at is None else f"worked at #{failure.fixed_at}"
    return f"#{failure.seq} {failure.name}{times}, {fixed}: {_short(failure.target, 40)}: {failure.error}"


def _tool(tool: ToolFacts) -> str:
    took = duration(tool.duration_ms / 1000) if tool.duration_ms else "time unknown"
    return f"{tool.name}  {took}, {counted(tool.calls, 'call')}, {tool.failed} failed"


def _turn(turn: TurnFacts) -> str:
    took = "" if turn.span.seconds is None else duration(turn.span.seconds)
    parts = [took, tokens(turn.usage), cost_words(turn.cost_usd, turn.cost_is_partial), counted(turn.calls, "call")]
    return f"{turn.number}  {_join(parts)}"


def _join(parts: Iterable[str]) -> str:
    return ", ".join(part for part in parts if part)


def _short(text: str, most: int = _LONGEST) -> str:
    return short(text, most)
