"""Text of a transcript inside HTML: escaped for elements and attributes, and with nothing invisible that commands."""

from __future__ import annotations

from stenograph.render.visible import on_one_line, visible


def text(value: str) -> str:
    """The text for the inside of an element or a quoted attribute; controls and bidi overrides are shown."""
    return _entities(visible(value))


def line(value: str) -> str:
    """The same for a name or an id: on one line."""
    return _entities(on_one_line(value))


def pre(value: str, kind: str = "") -> str:
    """A block that keeps spaces and line ends."""
    return pre_of(text(value), kind)


def pre_of(html: str, kind: str = "") -> str:
    """The same for what is HTML already; a first line end would be swallowed, so it is doubled."""
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
