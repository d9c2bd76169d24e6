"""Reading a page back, strictly: only tags and attributes that a page of ours may have, each closed where it began."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from stenograph.render.html.script import SCRIPT
from stenograph.render.html.style import STYLE

VOID = {"meta", "input", "img", "hr"}
PLAIN = {"html", "head", "body", "title", "style", "script", "header", "h1", "nav", "ol", "ul", "li", "main", "section"}
PLAIN |= {"h2", "h3", "h4", "h5", "h6", "article", "details", "summary", "div", "span", "small", "b", "bdi", "code"}
PLAIN |= {"pre", "p", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "strong", "em", "s", "a", "dl", "dt"}
PLAIN |= {"dd", "footer", "output", "button", "time", "label", "svg", "rect"}
ATTRIBUTES = {"class": r"[a-z0-9 -]+", "id": r"[a-z0-9-]+", "dir": "auto", "lang": "en", "open": "", "hidden": ""}
ATTRIBUTES |= {"href": r"#[a-z0-9-]+|https?://[A-Za-z0-9][\x21-\x7e]*", "rel": "noopener noreferrer nofollow"}
ATTRIBUTES |= {"src": r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*", "start": r"\d+", "value": r"\d+"}
ATTRIBUTES |= {"datetime": r"\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)"}
ATTRIBUTES |= dict.fromkeys(("x", "y", "width", "height"), r"\d+(\.\d+)?") | {"tabindex": "-1"}
ATTRIBUTES |= {"data-density": "brief|all"}
ATTRIBUTES |= {"viewbox": "0 0 1000 16", "preserveaspectratio": "none", "aria-hidden": "true"}
FREE = {"title", "alt", "aria-label", "content", "placeholder"}
FIXED = {"meta": {"charset", "http-equiv", "name", "content"}, "input": {"id", "type", "placeholder", "aria-label"}}
FIXED["input"] |= {"autocomplete", "spellcheck"}
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


class Page(HTMLParser):
    """A page, or a piece of one, read back; raises AssertionError for anything that is not ours."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        assert not OBEYED.search(html)
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self._open: list[str] = []
        self._texts: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []
        assert len(self.ids) == len(set(self.ids))

    @property
    def text(self) -> str:
        """What a person can read, without our style and script."""
        return "".join(self._texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in PLAIN | VOID, tag
        self.tags.add(tag)
        for name, value in attrs:
            self._check(tag, name, value or "")
        if tag not in VOID:
            self._open.append(tag)

    def _check(self, tag: str, name: str, value: str) -> None:
        if (
            name in FIXED.get(tag, ())
            or name in FREE
            or (tag in ("button", "div", "output") and name in ("type", "role"))
        ):
            pass
        else:
            assert name in ATTRIBUTES, (tag, name)
            assert re.fullmatch(ATTRIBUTES[name], value), (tag, name, value)
        if name == "id":
            self.ids.append(value)
        elif name == "href":
            self.links.append(value)
        elif name == "src":
            self.sources.append(value)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, tag
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        around = self._open[-1] if self._open else ""
        if around == "style":
            assert data == STYLE
        elif around == "script":
            assert data == SCRIPT
        else:
            self._texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        assert decl == "DOCTYPE html"

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"a processing instruction: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")
