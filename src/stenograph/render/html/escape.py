"""Text of a transcript inside HTML: escaped for elements and attributes, with control characters made visible."""

from __future__ import annotations

from stenograph.render.control_chars import on_one_line, visible


def text(value: str) -> str:
    """The text for the inside of an element or a quoted attribute; controls and bidi overrides are shown."""
    return _entities(visible(value))


def line(value: str) -> str:
    """A name or an id for the inside of an element or a quoted attribute: on one line."""
    return _entities(on_one_line(value))


def pre(value: str, kind: str = "") -> str:
    """A `<pre>` element, which keeps spaces and line ends."""
    return pre_of(text(value), kind)


def pre_of(html: str, kind: str = "") -> str:
    """A `<pre>` element around HTML. A line end at its beginning is doubled, because browsers drop the first one."""
    opening = f'<pre class="{kind}" dir="auto">' if kind else '<pre dir="auto">'
    return f"{opening}\n{html}</pre>" if html.startswith("\n") else f"{opening}{html}</pre>"


def _entities(value: str) -> str:
    if "&" in value:
        value = value.replace("&", "&amp;")
    if "<" in value:
        value = value.replace("<", "&lt;")
    if ">" in value:
        value = value.replace(">", "&gt;")
    if '"' in value:
        value = value.replace('"', "&quot;")
    return value.replace("'", "&#x27;") if "'" in value else value
