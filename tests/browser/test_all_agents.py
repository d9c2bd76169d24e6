"""The page of every agent: all golden sessions, and how one of each format is laid out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from golden_cases import CASES, first_run_of, name_of
from sample_archive import sample_archive
from serving import Server, Visitor, serving, visiting

pytestmark = pytest.mark.browser
SNAPSHOTS = Path(__file__).parent / "snapshots"
FORMATS = sorted({case.parent.name for case in CASES})
SHOWN = {
    "acp": "copilot-loaded",
    "aider": "sessions",
    "anthropic_messages": "tools",
    "chatgpt": "branches",
    "claude_code": "parity",
    "claude_stream": "2.1.325-subagent",
    "cline": "parity",
    "codex_app_server": "0.166-patches",
    "codex_exec": "tools",
    "codex_rollout": "ask-user",
    "continue_session": "parity",
    "copilot_cli": "parity",
    "copilot_stream": "tools",
    "cursor": "subagent",
    "exchange": "demo",
    "gemini_cli": "parity",
    "gemini_stream": "tools",
    "gptme": "parity",
    "hermes_agent": "parity",
    "kilo": "parity",
    "kimi_cli": "parity",
    "kimi_code": "parity",
    "mini_swe_agent": "parity",
    "openai_chat": "stream",
    "openai_responses": "stream",
    "openclaw": "parity",
    "opencode": "parity",
    "opencode_stream": "tools",
    "openhands": "parity",
    "openhands_v0": "actions",
    "otlp": "openai_agents",
    "pi": "parity",
    "qwen_code": "parity",
    "swe_agent": "steps",
}
"""Cases whose layout is kept, one of a format."""
OUTLINE = r"""() => {
  const kinds = '.unit,.ev,.res,.agent,.think,.asides,.question,.todo,.diff,.file,.chosen,.more,.plan,.witness,'
    + 'img,table';
  const telling = 'b,code,bdi,.no,.par,.plus,.minus';
  const label = (each) => {
    const head = each.querySelector(each.matches('.unit') ? 'h2' : ':scope > summary');
    const words = head ? [...head.querySelectorAll(telling)].map((part) => part.textContent.trim()) : [];
    return words.filter(Boolean).join(' | ').slice(0, 90);
  };
  const lines = [];
  const walk = (node, depth) => {
    for (const each of node.children) {
      const shown = each.matches(kinds);
      if (shown) {
        const state = each.matches('details') ? (each.open ? ' open' : ' closed') : '';
        const name = each.className || each.tagName.toLowerCase();
        lines.push(`${'  '.repeat(depth)}${name}${state} ${label(each)}`.trimEnd());
      }
      walk(each, depth + (shown ? 1 : 0));
    }
  };
  walk(document.querySelector('main'), 0);
  return lines;
}"""
UNNAMED = r"""[...document.querySelectorAll('.tool.shell > summary, .tool.read > summary')]
  .filter((each) => !each.querySelector('code').textContent).map((each) => each.textContent)"""
OUT = "[...document.querySelectorAll('.facts dt')].map((each) => each.textContent)"
_IDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(sample_archive(tmp_path_factory.mktemp("agents"), CASES), "--no-sync") as server:
        yield server


@pytest.fixture
def visitor(browser: Browser, server: Server) -> Iterator[Visitor]:
    with visiting(browser, server) as visitor:
        yield visitor
        assert visitor.complaints == []


@pytest.mark.parametrize("written", FORMATS)
def test_every_golden_session_has_its_pages(visitor: Visitor, written: str) -> None:
    """Every view of every run answers; the page shows its events, fits, and nothing complains."""
    page = visitor.open("/")
    for run_id in {first_run_of(case) for case in CASES if case.parent.name == written}:
        place = f"{visitor.server.origin}/runs/{run_id}"
        for view in ("/tree", "/changes", "/raw/1", "/export.html"):
            assert page.request.get(f"{place}{view}").ok, (run_id, view)
        last = page.request.get(f"{visitor.server.origin}/api/v1/runs/{run_id}").json()["last_seq"]
        page.goto(f"{place}?unit=0&density=all" if _begins_before(page, run_id) else f"{place}?unit=1&density=all")
        seqs = page.evaluate("[...document.querySelectorAll('[id^=seq-]')].map((each) => Number(each.id.slice(4)))")
        assert sorted(set(seqs)) == sorted(seqs), run_id
        assert len(seqs) == min(last, len(seqs)) > 0, run_id
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), run_id
        assert not page.get_by_text("That did not work").count(), run_id


def _begins_before(page: Page, run_id: str) -> bool:
    origin = page.url.partition("/runs/")[0].rstrip("/")
    units = page.request.get(f"{origin}/api/v1/runs/{run_id}/units").json()["units"]
    return bool(units) and units[0]["unit"] == 0


@pytest.mark.parametrize("written", SHOWN)
def test_the_layout_of_a_page(visitor: Visitor, written: str, request: pytest.FixtureRequest) -> None:
    """A session of a format is laid out as it was; `--update-golden` keeps a new layout: read the difference."""
    (case,) = [case for case in CASES if name_of(case) == f"{written}/{SHOWN[written]}"]
    page = visitor.open(f"/runs/{first_run_of(case)}")
    assert page.evaluate(UNNAMED) == [], "a card says which command or file it is about"
    lines = [f"facts {', '.join(page.evaluate(OUT))}", *page.evaluate(OUTLINE)]
    told = _IDS.sub("ID", "\n".join(lines)) + "\n"
    file = SNAPSHOTS / f"{written}.txt"
    if request.config.getoption("--update-golden"):
        SNAPSHOTS.mkdir(exist_ok=True)
        file.write_text(told, "utf-8")
    assert told == file.read_text("utf-8")
