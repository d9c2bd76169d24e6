"""The page of `steno serve`: what the server takes for the list and for pages of a long run, what a browser paints."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.measure import Row
from bench.query import make_index
from bench.server import Server, browsing, missing_browser, serving

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

FEW, MANY = 300, 50_000
"""Runs on a list."""
LONG = 25_000
"""Model calls of a run of 100,000 events."""
TIMES = 9
_PAINT = "performance.getEntriesByName('first-contentful-paint').map((each) => each.startTime)[0] ?? -1"


def rows(folder: Path) -> list[Row]:
    """Every measurement of this part."""
    few, many, long = folder / "few", folder / "many-runs", folder / "long"
    make_index(few, FEW, 10)
    make_index(many, MANY, 0)
    make_index(long, 1, LONG)
    starts = [_start(folder / "no-home", few) for _ in range(4)][1:]
    made = [_at_most("steno serve until its first answer", 0.6, statistics.median(starts))]
    with serving(folder / "no-home", few, "--no-sync") as server:
        made += [*_painted(server, "/", f"the list of {FEW} runs", 0.25), _memory(server), *_weight(server)]
    with serving(folder / "no-home", many, "--no-sync") as server:
        made.append(_at_most(f"the list of {MANY:,} runs, on the server", 0.3, _median(server, "/")))
    with serving(folder / "no-home", long, "--no-sync") as server:
        made += _pages(server)
    return made


def _start(home: Path, archive: Path) -> float:
    """Seconds from the command to the first answer. The first time ever compiles the modules, and is left out."""
    with serving(home, archive, "--no-sync") as server:
        return server.started


def _pages(server: Server) -> list[Row]:
    run: dict[str, Any] = json.loads(server.get("/api/v1/runs"))["runs"][0]
    place = f"/runs/{run['run_id']}"
    last = f"{place}?unit={run['turns']}"
    first_page, last_page = _median(server, f"{place}?unit=1"), _median(server, last)
    size = len(server.get(last))
    of = f"of a run of {LONG * 4:,} events"
    return [
        *_painted(server, last, f"the last page {of}", 0.4),
        _at_most(f"the first page {of}, on the server", 0.4, first_page),
        _at_most(f"the last page {of}, on the server", 0.4, last_page, f"the first {_ms(first_page)}"),
        _at_most(f"find in it, all hits {of}", 0.5, _median(server, f"{place}/find?q=semaphore")),
        Row(f"size of that page {of}", "< 300 kB", f"{size / 1000:.0f} kB", "", size < 300_000),
    ]


def _painted(server: Server, place: str, what: str, goal: float) -> list[Row]:
    """What a browser takes to paint a page that it never saw, and how many elements that has."""
    job = f"first paint of {what}"
    if missing := missing_browser():
        return [Row(job, f"< {_ms(goal)}", "not measured", missing, False)]
    with browsing(server) as context:
        paints, elements = zip(*(_paint(context, server.origin + place) for _ in range(5)), strict=True)
    paint = statistics.median(paints)
    return [
        Row(job, f"< {_ms(goal)}", _ms(paint), "", paint < goal),
        Row(f"elements of {what}", "≤ 10,000", f"{max(elements):,}", "", max(elements) <= 10_000),
    ]


def _paint(context: BrowserContext, url: str) -> tuple[float, int]:
    page = context.new_page()
    page.goto(url, wait_until="load")
    for _ in range(200):
        paint = page.evaluate(_PAINT)
        if paint >= 0:
            break
        page.wait_for_timeout(10)
    elements = page.evaluate("document.querySelectorAll('*').length")
    page.close()
    return paint / 1000, elements


def _memory(server: Server) -> Row:
    idle = server.megabytes
    return Row("the server, idle", "< 80 MB", f"{idle:.0f} MB", "", idle < 80)


def _weight(server: Server) -> list[Row]:
    """What a page loads beside itself: its styles, and its scripts with what they import."""
    page = server.get("/").decode()
    wanted = set(re.findall(r'(?:href|src)="(/static/[\w.-]+\.(?:css|js))"', page))
    met: dict[str, int] = {}
    while wanted:
        name = wanted.pop()
        text = server.get(name).decode()
        met[name] = len(text.encode())
        wanted |= {f"/static/{each}" for each in re.findall(r"import[^'\"]*['\"]\./([\w.-]+\.js)", text)} - met.keys()
    scripts, total = sum(size for name, size in met.items() if name.endswith(".js")), sum(met.values())
    sent = sum(map(server.bytes_sent, met))
    scripts_sent = sum(server.bytes_sent(name) for name in met if name.endswith(".js"))
    return [
        Row(
            "styles and scripts of a page, as they are sent",
            "< 40 kB",
            f"{sent / 1000:.0f} kB ({total / 1000:.0f} kB unpacked)",
            "",
            sent < 40_000,
        ),
        Row(
            "its scripts alone, as they are sent",
            "≤ 20 kB",
            f"{scripts_sent / 1000:.1f} kB ({scripts / 1000:.1f} kB unpacked)",
            "",
            scripts_sent <= 20_000,
        ),
    ]


def _median(server: Server, place: str) -> float:
    server.get(place)
    return statistics.median(server.seconds(place) for _ in range(TIMES))


def _at_most(job: str, goal: float, took: float, limit: str = "") -> Row:
    return Row(job, f"< {_ms(goal)}", _ms(took), limit, took < goal)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
