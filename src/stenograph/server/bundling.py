"""The pages that show a debug bundle: what it holds, its transcript, its logs, and SQL over it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from stenograph.archive.store.home import Home, home_of
from stenograph.bundle.loaded import DebugBundle
from stenograph.bundle.manifest import Manifest
from stenograph.errors import InvalidQuery, RunNotFound
from stenograph.fold.agent_tables import name_of_agent
from stenograph.query.bundle_database import bundle_database
from stenograph.query.bundle_index import index_bundle
from stenograph.query.bundle_tables import EXAMPLES, TABLES
from stenograph.query.sql import Limits, run_sql
from stenograph.render.figures import counted, when
from stenograph.render.html.escape import line, pre, text
from stenograph.render.html.output import folded
from stenograph.render.html.prose import prose
from stenograph.server.answers import html
from stenograph.server.frame import address, framed, moment, status_mark, table
from stenograph.server.listing import title_of
from stenograph.server.site import Site

SHOWN = 100
"""Entries or records on a page."""
ROWS = 1000
"""Rows of a query that are shown."""
SECONDS = 10.0
"""How long a query may take."""
_ANSWER_BYTES = 1 << 24
"""How large all values of a query's answer may be together."""
_VIEWS = (("/bundle", "Transcript"), ("/bundle/logs", "Logs"), ("/bundle/sql", "SQL"))
_ENTRIES = "SELECT * FROM entries"
_LOGS = "SELECT * FROM logs"
_SAID = ("user_message", "assistant_message")
"""Entries that are shown as prose; the others are shown as output."""
_SEARCHED = (("q", "content"), ("detail", "detail"))
"""Parameters of the page, and the columns in which their words are searched."""


@contextmanager
def bundle_home(bundle: Path) -> Iterator[Home]:
    """The runs of a bundle as a temporary archive. Raises `SourceError` for a file that is not a bundle."""
    DebugBundle.load(bundle)
    with tempfile.TemporaryDirectory(prefix="stenograph-") as folder:
        home = home_of(folder)
        index_bundle(bundle, home.path)
        yield home


def bundle_page(site: Site, request: Request) -> Response:
    """`/bundle`: what the bundle holds, and its transcript by entries, filtered by type, source and detail."""
    query = dict(request.query_params)
    names = {"type": "entry_type", "source": "source"}
    conditions = [(f"{column} = ?", query[name]) for name, column in names.items() if query.get(name)]
    conditions += [(f"instr(lower({each}), lower(?))", query[name]) for name, each in _SEARCHED if query.get(name)]
    where = " AND ".join(condition for condition, _ in conditions) or "1"
    values = [value for _, value in conditions]
    start = _start(query)
    with bundle_database(_bundle(site), _ENTRIES) as connection:
        connection.row_factory = _named
        rows = connection.execute(f"{_ENTRIES} WHERE {where} LIMIT ? OFFSET ?", (*values, SHOWN + 1, start)).fetchall()
        sums = {
            name: connection.execute(f"SELECT {column} AS key, count(*) AS number FROM entries GROUP BY 1").fetchall()
            for name, column in names.items()
        }
        edges = connection.execute(
            "SELECT min(timestamp) AS first, max(timestamp) AS last, max(adapter) AS adapter,"
            " max(prompt_name) AS prompt_name, count(*) AS total FROM entries"
        ).fetchone()
    chips = "".join(_chips(site, name, counts, query) for name, counts in sums.items())
    items = "".join(_entry(site, row) for row in rows[:SHOWN])
    none = "" if rows else '<p class="empty">No entry is like that.</p>'
    facts = _facts(
        ("Entries", f"{edges['total']:,}"),
        ("Adapter", line(site.text(edges["adapter"] or ""))),
        ("Prompt", line(site.text(edges["prompt_name"] or ""))),
        ("First", moment(edges["first"], when(edges["first"]))),
        ("Last", moment(edges["last"], when(edges["last"]))),
    )
    body = (
        f"{_head(site)}{_views('/bundle')}<main class=narrow><h2>Transcript</h2>{facts}{chips}{_search(query)}"
        f"{items}{none}{_more('/bundle', query, start, len(rows) > SHOWN)}</main>"
    )
    return html(request, framed(site, "Bundle", body, here="/bundle"))


def logs_page(site: Site, request: Request) -> Response:
    """`/bundle/logs`: the log records, by level and words."""
    query = dict(request.query_params)
    conditions = [("level = ?", query["level"])] if query.get("level") else []
    if query.get("q"):
        conditions.append(("instr(lower(coalesce(message, '') || coalesce(context, '')), lower(?))", query["q"]))
    where = " AND ".join(condition for condition, _ in conditions) or "1"
    start = _start(query)
    values = (*(value for _, value in conditions), SHOWN + 1, start)
    with bundle_database(_bundle(site), _LOGS) as connection:
        connection.row_factory = _named
        rows = connection.execute(f"{_LOGS} WHERE {where} ORDER BY id LIMIT ? OFFSET ?", values).fetchall()
        levels = connection.execute("SELECT level AS key, count(*) AS number FROM logs GROUP BY 1").fetchall()
    items = "".join(_record(site, row) for row in rows[:SHOWN])
    none = "" if rows else '<p class="empty">No record is like that.</p>'
    body = (
        f"{_head(site)}{_views('/bundle/logs')}<main class=narrow><h2>Logs</h2>"
        f"{_chips(site, 'level', levels, query, '/bundle/logs')}{_search(query)}{items}{none}"
        f"{_more('/bundle/logs', query, start, len(rows) > SHOWN)}</main>"
    )
    return html(request, framed(site, "Logs of the bundle", body, here="/bundle"))


def sql_page(site: Site, request: Request) -> Response:
    """`/bundle/sql?sql=`: one SELECT over the tables of the bundle, as `steno query` answers it."""
    sql = request.query_params.get("sql", "")
    shown = _answer(site, sql) if sql.strip() else ""
    examples = "".join(
        f'<li><a href="{address("/bundle/sql", {"sql": example})}">{line(about)}</a></li>'
        for about, example in EXAMPLES
    )
    tables = "".join(
        f"<dt><code>{line(each.name)}</code></dt><dd>{line(each.about)}<br><small>{line(', '.join(each.columns))}"
        "</small></dd>"
        for each in TABLES
    )
    body = (
        f"{_head(site)}{_views('/bundle/sql')}<main class=narrow><h2>SQL</h2>"
        '<form class="sql"><label>One SELECT <textarea name="sql" rows="5" spellcheck="false">'
        f'{text(sql)}</textarea></label><button type="submit">Ask</button></form>{shown}'
        f"<h3>Examples</h3><ul>{examples}</ul><h3>Tables</h3><dl>{tables}</dl></main>"
    )
    return html(request, framed(site, "Ask the bundle", body, here="/bundle"))


def _answer(site: Site, sql: str) -> str:
    """The rows of a query, and its error; a limit that is reached is an error after the rows before it."""
    limits = Limits(rows=ROWS, seconds=SECONDS, bytes=_ANSWER_BYTES)
    shown: list[Sequence[Any]] = []
    problem = ""
    columns: Sequence[str] = ()
    try:
        with bundle_database(_bundle(site), sql) as connection:
            result = run_sql(connection, sql, limits)
            columns = result.columns
            rows: Iterable[Sequence[Any]] = result if site.mask is None else site.mask.rows(columns, result)
            for row in rows:
                shown.append(row)  # noqa: PERF402  # an error on the way must leave the rows before it
    except InvalidQuery as error:
        problem = f'<p class="no" role="alert">{line(site.text(str(error)))}</p>'
    cells = (f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>\n" for row in shown)
    listed = table([line(name) for name in columns], cells) if columns else ""
    return f"{problem}<p>{counted(len(shown), 'row')}</p>{listed}" if columns else problem


def _cell(value: Any) -> str:
    if value is None:
        return '<span class="empty">null</span>'
    shown = value.hex() if isinstance(value, bytes) else str(value)
    return text(shown) if len(shown) < 300 else folded(shown, full=False)


def _head(site: Site) -> str:
    manifest = DebugBundle.load(_bundle(site)).manifest
    counts = manifest.counts
    runs = "".join(
        f'<li><a href="/runs/{line(run_id)}">{line(run_id)}</a></li>'
        for run_id in (manifest.run_id, *manifest.child_run_ids)
        if run_id
    )
    facts = _facts(
        ("Agent", line(name_of_agent(manifest.agent))),
        ("Made", f"{moment(manifest.created_at, when(manifest.created_at))} by {line(manifest.program)}"),
        ("Events", f"{counts.events:,}"),
        ("Records", f"{counts.log_records:,}"),
        ("Secrets", "masked" if manifest.redacted else ""),
        ("Problems", line(site.text("; ".join(manifest.problems)))),
    )
    return (
        f'<header class="top run"><h1 dir="auto">{line(_title(site, manifest))}</h1>'
        f"<p>{status_mark(manifest.status, manifest.status_reason)} <small>{line(_bundle(site).name)}</small></p>"
        f"{facts}<details><summary>Runs and files</summary><ul>{runs}</ul>{_files(manifest)}</details></header>\n"
    )


def _title(site: Site, manifest: Manifest) -> str:
    """What the run is about; a bundle may hold a run without events."""
    try:
        with site.run(manifest.run_id) as (reader, run, _):
            return title_of(site.info(reader, run))
    except RunNotFound:
        return site.text(manifest.name or manifest.run_id) or "A bundle"


def _files(manifest: Manifest) -> str:
    rows = (f"<tr><td>{line(each.name)}</td><td class=right>{each.size:,}</td></tr>\n" for each in manifest.files)
    return table(("File", "Bytes"), rows)


def _views(here: str) -> str:
    links = "".join(
        f'<a href="{place}"{" aria-current=page" if place == here else ""}>{name}</a>' for place, name in _VIEWS
    )
    return f'<nav class="views" aria-label="Views of the bundle">{links}</nav>\n'


def _facts(*facts: tuple[str, str]) -> str:
    items = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts if value)
    return f'<dl class="facts">{items}</dl>'


def _chips(
    site: Site, name: str, rows: Sequence[Mapping[str, Any]], query: Mapping[str, str], place: str = "/bundle"
) -> str:
    """How many there are of each kind, each a filter."""
    now = query.get(name)
    kept = {key: value for key, value in query.items() if key != "from"}
    links = "".join(
        f'<a href="{address(place, {**kept, name: "" if now == row["key"] else row["key"]})}"'
        f"{' aria-current=true' if now == row['key'] else ''}>{line(site.text(str(row['key'])))} "
        f"<small>{row['number']:,}</small></a>"
        for row in rows
        if row["key"]
    )
    return f'<p class="chips facet"><b>{name}</b>{links}</p>' if links else ""


def _search(query: Mapping[str, str]) -> str:
    kept = "".join(
        f'<input type="hidden" name="{name}" value="{line(query[name])}">'
        for name in ("type", "source", "level", "detail")
        if query.get(name)
    )
    return (
        f'<form class="big" role="search">{kept}<input type="search" name="q" value="{line(query.get("q", ""))}" '
        'aria-label="Words"> <button type="submit">Filter</button></form>'
    )


def _entry(site: Site, row: Mapping[str, Any]) -> str:
    content = site.text(row["content"] or "")
    labels = [row["source"], row["entry_type"], row["tool_name"] or "", f"#{row['sequence_number']}"]
    shown = f'<div class="md">{prose(content)}</div>' if row["entry_type"] in _SAID else folded(content, full=False)
    folds = "".join(
        f'<details class="raw"><summary>{name}</summary>{pre(site.text(row[name]))}</details>'
        for name in ("tool_input", "metadata", "detail", "raw")
        if row[name] and row[name] not in ("{}", "null")
    )
    kind = " user" if row["entry_type"] == "user_message" else " error" if row["entry_type"] == "error" else ""
    head = f'<div class="who">{line(site.text(" · ".join(filter(None, labels))))} {_at(row["timestamp"])}</div>'
    return f'<article class="ev{kind}">{head}{shown if content else ""}{folds}</article>\n'


def _record(site: Site, row: Mapping[str, Any]) -> str:
    labels = [row["level"] or "", row["logger"] or "", row["event"] or ""]
    kind = " error" if row["level"] in ("ERROR", "CRITICAL") else ""
    folds = "".join(
        f'<details class="raw"><summary>{name}</summary>{pre(site.text(str(row[name])))}</details>'
        for name in ("context", "exception")
        if row[name] and row[name] != "{}"
    )
    head = f'<div class="who">{line(site.text(" · ".join(filter(None, labels))))} {_at(row["timestamp"])}</div>'
    body = folded(site.text(row["message"]), full=False) if row["message"] else ""
    return f'<article class="ev{kind}">{head}{body}{folds}</article>\n'


def _at(timestamp: str | None) -> str:
    return "" if not timestamp else f'<span class="at">{moment(timestamp, when(timestamp))}</span>'


def _more(place: str, query: Mapping[str, str], start: int, has_more: bool) -> str:
    kept = {name: value for name, value in query.items() if name != "from"}
    earlier = address(place, {**kept, "from": max(0, start - SHOWN)})
    links = f'<a rel="prev" href="{earlier}">Earlier</a>' if start else ""
    if has_more:
        links += f'<a rel="next" href="{address(place, {**kept, "from": start + SHOWN})}">Later</a>'
    return f'<p class="pager">{links}</p>' if links else ""


def _start(query: Mapping[str, str]) -> int:
    start = query.get("from", "")
    return int(start) if start.isascii() and start.isdigit() and len(start) < 12 else 0


def _named(cursor: Any, row: tuple[Any, ...]) -> dict[str, Any]:
    """A row by the names of its columns."""
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}


def _bundle(site: Site) -> Path:
    assert site.bundle is not None, "these pages are for a site that shows a bundle"
    return site.bundle
