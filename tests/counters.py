"""The numbers of a run as each surface gives them, for the tests that compare them."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.reader import IndexReader
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.bundle import BundleOptions, DebugBundle, create_bundle
from stenograph.fold.prices import Prices
from stenograph.fold.subagents import subagent_tree
from stenograph.fold.totals import Totals
from stenograph.fold.tree import RunNode, StepNode, step_tree
from stenograph.model import Event, encode
from stenograph.query.archive_database import views_of
from stenograph.query.bundle_database import bundle_database
from stenograph.query.prices import load_prices
from stenograph.query.runs import RunLine, list_runs
from stenograph.query.scope import Scope
from stenograph.query.sql import run_sql
from stenograph.query.stats import stats
from stenograph.query.tree import archived_tree
from stenograph.render.html.page import html_page
from stenograph.render.markdown import markdown_page
from stenograph.runs.info import RunInfo
from stenograph.text_transcripts import ThreadTranscripts


class Numbers(Struct, frozen=True, kw_only=True):
    """What a surface tells; None for what it does not."""

    messages: int | None = None
    calls: int | None = None
    failed: int | None = None
    open: int | None = None
    errors: int | None = None
    subagents: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None

    def differences(self, told: Numbers) -> dict[str, tuple[Any, Any]]:
        """Where another surface tells something else."""
        mine, theirs = ({name: getattr(each, name) for name in each.__struct_fields__} for each in (self, told))
        return {
            name: (mine[name], theirs[name])
            for name in mine
            if mine[name] is not None and theirs[name] is not None and mine[name] != theirs[name]
        }


def of_totals(totals: Totals) -> Numbers:
    """The fold itself."""
    return Numbers(
        messages=totals.messages,
        calls=totals.tool_calls,
        failed=totals.failed_calls,
        open=totals.open_calls,
        errors=totals.errors,
        subagents=totals.subagents,
        input_tokens=totals.tokens.input_tokens,
        output_tokens=totals.tokens.output_tokens,
    )


def of_tree(node: RunNode) -> Numbers:
    """`steno tree`, all steps together."""
    nodes: list[RunNode | StepNode] = [node]
    for each in nodes:
        nodes += each.steps
    return Numbers(messages=sum(each.messages for each in nodes), calls=sum(each.tool_calls for each in nodes))


def of_trees(events: Sequence[Event]) -> dict[str, Numbers]:
    """By steps, and by subagents."""
    return {"steps": of_tree(step_tree(events)), "subagents": of_tree(subagent_tree(events))}


def of_pages(events: Sequence[Event]) -> dict[str, Numbers]:
    """The facts at the head of the page and of the Markdown."""
    html = "".join(html_page(lambda: events))
    facts = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd></div>", html))
    lines = "".join(markdown_page(lambda: events)).split("\n## ")[0]
    told = dict(re.findall(r"^- ([^:\n]+): (.*)$", lines, re.MULTILINE))
    assert html.count('<span class="no">no result</span>') == int(facts.get("Calls without a result", "0"))
    return {"page": _of_facts(facts), "markdown": _of_facts(told)}


def _of_facts(facts: dict[str, str]) -> Numbers:
    names = ("Messages", "Tool calls", "Failed calls", "Calls without a result", "Errors", "Subagents")
    numbers = [int(facts.get(name, "0").replace(",", "")) for name in names]
    messages, calls, failed, without, errors, subagents = numbers
    return Numbers(messages=messages, calls=calls, failed=failed, open=without, errors=errors, subagents=subagents)


def of_texts(events: Sequence[Event], folder: Path) -> int:
    """The calls at the heads of the text files, together."""
    files = ThreadTranscripts(folder, max_files=1000).write(events)
    return sum(int(re.findall(r"^Tool Calls: (\d+)$", file.read_text(), re.MULTILINE)[0]) for file in files)


def write_journal(events: Sequence[Event], folder: Path) -> Path:
    """The events as a journal."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{events[0].run_id}.jsonl"
    path.write_bytes(b"".join(encode(event) + b"\n" for event in events))
    return path


def make_archive(folder: Path, sessions: Path) -> IndexReader:
    """An archive of everything in a folder."""
    with Store(home_of(folder)) as store:
        summary = sync(store, [Root(sessions.resolve(), None)])
    assert summary.failed == 0, summary.problems
    return IndexReader(folder)


def of_archive(archive: IndexReader, prices: Prices) -> dict[str, dict[str, Numbers]]:
    """`ls`, `tree` and SQL of every run, by its id."""
    with views_of(archive, prices) as views:
        return {run.run_id: _of_run(archive, run, views) for run in list_runs(archive.index, Scope(), prices)[0]}


def _of_run(archive: IndexReader, line: RunLine, views: sqlite3.Connection) -> dict[str, Numbers]:
    assert line.tools == line.tool_calls
    tree = of_tree(archived_tree(archive, archive.find_run(line.run_id)[0]))
    return {
        "ls": Numbers(
            messages=line.messages,
            calls=line.tool_calls,
            failed=line.failed_calls,
            open=line.open_calls,
            errors=line.errors,
            subagents=line.subagents,
            input_tokens=line.input_tokens,
            output_tokens=line.output_tokens,
            cost=line.cost_usd,
        ),
        "sql": _of_views(views, line.run_id),
        "archived tree": _own(tree, archive, line.run_id),
    }


def _own(numbers: Numbers, archive: IndexReader, run_id: str) -> Numbers:
    """Nothing of a tree that has other runs in it."""
    query = "SELECT count(*) FROM runs WHERE parent_run_id = ? OR forked_from = ?"
    return Numbers() if archive.index.execute(query, (run_id, run_id)).fetchone()[0] else numbers


def _of_views(views: sqlite3.Connection, run_id: str) -> Numbers:
    def one(query: str) -> tuple[Any, ...]:
        (row,) = list(run_sql(views, f"{query} WHERE run_id = '{run_id}'"))
        return tuple(row)

    (messages,) = one("SELECT count(*) FROM messages")
    calls, failed, answered = one("SELECT count(*), count(error), count(result_seq) FROM tool_calls")
    (errors,) = one("SELECT count(*) FROM errors")
    into, out, cost = one("SELECT total(input_tokens), total(output_tokens), sum(cost_usd) FROM usage")
    told = one("SELECT messages, tool_calls, failed_calls, open_calls, errors, subagents FROM runs")
    assert told[:5] == (messages, calls, failed, calls - answered, errors)
    return Numbers(
        messages=messages,
        calls=calls,
        failed=failed,
        open=calls - answered,
        errors=errors,
        subagents=told[5],
        input_tokens=int(into),
        output_tokens=int(out),
        cost=None if cost is None else round(cost, 6),
    )


def of_stats(archive: IndexReader, prices: Prices) -> Numbers:
    """`steno stats` of the whole archive."""
    told = stats(archive.index, Scope(), prices).as_dict()["totals"]
    return Numbers(
        calls=told["tool_calls"],
        failed=told["failed_tool_calls"],
        input_tokens=told["input_tokens"],
        output_tokens=told["output_tokens"],
        cost=told["cost_usd"],
    )


def of_bundle(events: Sequence[Event], folder: Path) -> dict[str, Numbers]:
    """The metrics of a bundle, and its tables."""
    path = create_bundle(folder / "a.zip", events, options=BundleOptions(environment=False, page=False))
    metrics = json.loads(DebugBundle.load(path).read("metrics.json"))
    totals, tools = metrics["totals"], metrics["tools"].values()
    with bundle_database(path) as tables:
        calls, failed, answered = next(
            iter(run_sql(tables, "SELECT count(*), count(error), count(result_seq) FROM tool_calls"))
        )
        into, out = next(
            iter(run_sql(tables, "SELECT total(input_tokens), total(output_tokens) FROM usage WHERE is_counted"))
        )
    return {
        "bundle": Numbers(
            messages=totals["messages"],
            calls=totals["tool_calls"],
            failed=totals["failed_calls"],
            open=totals["open_calls"],
            errors=totals["errors"],
            subagents=totals["subagents"],
            input_tokens=totals["input_tokens"],
            output_tokens=totals["output_tokens"],
        ),
        "bundle tools": Numbers(
            calls=sum(tool["calls"] for tool in tools),
            failed=sum(tool["failed"] for tool in tools),
            open=sum(tool["unanswered"] for tool in tools),
        ),
        "query": Numbers(
            calls=calls, failed=failed, open=calls - answered, input_tokens=int(into), output_tokens=int(out)
        ),
    }


def of_info(info: RunInfo) -> Numbers:
    """The Python API, whatever the run was opened as."""
    return Numbers(
        messages=info.messages,
        calls=info.tool_calls,
        failed=info.failed_calls,
        open=info.open_calls,
        errors=info.errors,
        subagents=info.subagents,
        input_tokens=info.input_tokens,
        output_tokens=info.output_tokens,
        cost=info.cost_usd,
    )


PRICES = load_prices(None)
