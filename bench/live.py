"""Live: from a line in an agent's file or in a journal to the screen, through `steno serve` and a real browser."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import Row
from bench.server import Server, browsing, missing_browser, serving
from bench.tree import Text, make_tree, real_lines
from stenograph import Run, start_run
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import roots_of
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store

SESSION = "7a7a7a7a-0000-4000-8000-000000000000"
LINES = 2000
"""That the session has when it is opened."""
APPENDS = 60
PAUSE = 0.15
TABS = 20
JOBS = {
    "file": f"append to an agent's file → on screen, {TABS} tabs open",
    "journal": f"append to a journal → on screen, {TABS} tabs open",
}
GOAL = "p50 < 60 ms, p95 < 150 ms"
# The moment at which a text was in a frame that the browser paints, in milliseconds since 1970.
_WATCH = """() => {
  window.seen = {};
  new MutationObserver((changes) => requestAnimationFrame(() => {
    for (const change of changes) for (const node of change.addedNodes)
      for (const [text] of (node.textContent || '').matchAll(/appended-\\d+-/g))
        window.seen[text] ??= performance.timeOrigin + performance.now();
  })).observe(document.body, { childList: true, subtree: true });
}"""


def rows(folder: Path) -> list[Row]:
    """Every measurement of this part."""
    if missing := missing_browser():
        return [Row(job, GOAL, "not measured", missing, False) for job in JOBS.values()]
    home, archive = folder / "live-home", folder / "live"
    make_tree(home, 20_000_000, 40)
    file = home / ".claude" / "projects" / "-home-user-live" / f"{SESSION}.jsonl"
    file.parent.mkdir(parents=True)
    text = Text(random.Random(3), real_lines())
    file.write_bytes(b"".join(_line(number, text(400)) for number in range(LINES)))
    with Store(home_of(archive)) as store:
        sync(store, roots_of({}, home, archive))
    with start_run("live", root=archive) as run, serving(home, archive) as server:
        run.user("go on")
        made = _latency(server, "journal", run.run_id, lambda mark: _said(run, mark))[:1]
        made += _latency(server, "file", SESSION, lambda mark: _append(file, mark))
    return made


def _append(file: Path, mark: str) -> None:
    with file.open("ab") as opened:
        opened.write(_line(LINES + int(mark.split("-")[1]), f"{mark} and some words"))


def _said(run: Run, mark: str) -> None:
    run.assistant([{"type": "text", "text": f"{mark} and some words"}])


def _latency(server: Server, kind: str, run_id: str, append: Callable[[str], None]) -> list[Row]:
    place = f"{server.origin}/runs/{run_id}?unit={_last_unit(server, run_id)}"
    with browsing(server) as context:
        for _ in range(TABS - 1):  # on the list, which is live, too
            context.new_page().goto(server.origin, wait_until="load")
        page = context.new_page()
        page.goto(place, wait_until="load")
        page.bring_to_front()
        page.keyboard.press("G")
        page.evaluate(_WATCH)
        page.wait_for_timeout(2000)
        taken: list[float] = []
        for number in range(APPENDS):
            mark = f"appended-{number}-"
            began = time.time() * 1000
            append(mark)
            page.wait_for_timeout(PAUSE * 1000)
            for _ in range(80):
                seen = page.evaluate("(mark) => window.seen[mark] ?? 0", mark)
                if seen:
                    break
                page.wait_for_timeout(25)
            taken.append(seen - began if seen else float("inf"))
        cost = _cost(server)
    taken.sort()
    middle, late = taken[len(taken) // 2], taken[len(taken) * 95 // 100]
    lost = taken.count(float("inf"))
    measured = f"p50 {middle:.0f} ms, p95 {late:.0f} ms" + (f", {lost} never" if lost else "")
    return [Row(JOBS[kind], GOAL, measured, "", middle < 60 and late < 150), *cost]


def _cost(server: Server) -> list[Row]:
    """What the server has and does while all those tabs are open, and nothing happens."""
    time.sleep(3)
    before, began = server.processor, time.perf_counter()
    time.sleep(10)
    share = (server.processor - before) / (time.perf_counter() - began)
    used = server.megabytes
    return [
        Row(f"the server, {TABS} tabs open", "< 120 MB", f"{used:.0f} MB", "", used < 120),
        Row(f"its processor time, {TABS} tabs open, nothing new", "< 2 % of a core", f"{share:.1%}", "", share < 0.02),
    ]


def _last_unit(server: Server, run_id: str) -> int:
    """The number of the last unit of a run, as soon as the archive has it."""
    for _ in range(400):
        found = [each for each in json.loads(server.get("/api/v1/runs?limit=1000"))["runs"] if each["run_id"] == run_id]
        if found:
            return max(1, found[0]["turns"])
        time.sleep(0.05)
    raise RuntimeError(f"{run_id} did not get into the archive")


def _line(number: int, text: str) -> bytes:
    """A line of a Claude Code session."""
    at = f"2026-03-01T{10 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
    role = "user" if number % 8 == 0 else "assistant"
    message: dict[str, object] = {"role": role, "content": [{"type": "text", "text": text}]}
    if role == "assistant":
        usage = {"input_tokens": 10, "output_tokens": 20}
        message |= {"id": f"msg_{number:024}", "model": "claude-sonnet-4-5-20250929", "usage": usage}
    record = {
        "type": role,
        "sessionId": SESSION,
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "timestamp": at,
        "cwd": "/home/user/live",
        "version": "2.1.197",
        "message": message,
    }
    return json.dumps(record).encode() + b"\n"
