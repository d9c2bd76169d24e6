"""The frame of every page: head, navigation, the note on what is masked, and the foot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlencode

from stenograph.render.html.escape import line
from stenograph.server.site import Site

_NAVIGATION = (("/", "Runs"), ("/live", "Live"), ("/search", "Search"), ("/stats", "Stats"), ("/help", "Help"))
STATUS_SIGNS = {
    "running": "●",
    "waiting": "◆",
    "finished": "✓",
    "failed": "✗",
    "interrupted": "■",
    "unknown": "?",
}
STATUS_WORDS = {"waiting": "waiting for you"}


def framed(site: Site, title: str, body: str, *, here: str = "", attributes: str = "", refresh: bool = False) -> str:
    """A whole page; `here` is the entry of the navigation that it belongs to; `refresh`: reload it soon."""
    again = '<meta http-equiv="refresh" content="1">\n' if refresh else ""
    links = "".join(
        f'<a href="{place}"{" aria-current=page" if place == here else ""}>{name}</a>'
        for place, name in (*_NAVIGATION, *((("/bundle", "Bundle"),) if site.bundle is not None else ()))
    )
    note = '<p class="note masked">Secrets that we know the shapes of are masked.</p>' if site.mask else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'{again}<title>{line(title)} · Stenograph</title>\n<link rel="icon" href="/static/icon.svg">\n'
        '<script src="/static/theme.js"></script>\n<link rel="stylesheet" href="/static/style.css">\n'
        '<script type="module" src="/static/main.js"></script>\n</head>\n'
        f'<body{attributes}>\n<a class="skip" href="#content">To the content</a>\n'
        f'<header class="bar"><nav aria-label="Pages"><a class="logo" href="/">steno</a>{links}</nav>'
        '<form class="look" action="/search" role="search"><input type="search" name="q" aria-label="Search all runs" '
        'placeholder="Search all runs"></form>'
        '<button type="button" class="theme" data-do="theme" hidden>Light / dark</button></header>\n'
        f'{note}<div id="content">\n{body}\n</div>\n'
        f'<footer class="foot">{_foot(site)} <a href="/help">Keys and help</a></footer>\n'
        '<div class="toast" id="toast" role="status"></div>\n</body>\n</html>\n'
    )


def _foot(site: Site) -> str:
    return "Nothing leaves this machine." if site.store is None else f"Everybody's runs in {line(site.runs.place)}."


def status_mark(status: str, reason: str | None = None) -> str:
    """A status as a sign, a word and a colour, with its reason."""
    word = STATUS_WORDS.get(status, status)
    title = f' title="{line(reason)}"' if reason else ""
    sign = f'<b aria-hidden="true">{STATUS_SIGNS.get(status, "?")}</b>'
    return f'<span class="status {line(status)}"{title}>{sign} {line(word)}</span>'


def address(path: str, parameters: Mapping[str, object]) -> str:
    """A path with a query, for an attribute; what is empty is left out."""
    query = urlencode({name: value for name, value in parameters.items() if value not in (None, "", False)})
    return line(f"{path}?{query}" if query else path)


def table(head: Iterable[str], rows: Iterable[str], kind: str = "") -> str:
    """A table that scrolls if it is too wide; the cells are HTML."""
    cells = "".join(f"<th scope=col>{name}</th>" for name in head)
    return (
        f'<div class="table" tabindex="0"><table class="{kind}"><thead><tr>{cells}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>\n"
    )


def moment(timestamp: str | None, shown: str) -> str:
    """A time with its exact form, which the script shows in local time."""
    return "" if not timestamp else f'<time datetime="{line(timestamp)}">{line(shown)}</time>'


def plain_error(site: Site, title: str, text: str) -> str:
    """A page that says in one line what is wrong."""
    return framed(site, title, f"<main class=narrow><h1>{line(title)}</h1><p>{line(text)}</p></main>")
