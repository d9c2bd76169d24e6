"""A run as one HTML page, or a part of it as a fragment. No I/O."""

from stenograph.render.html.page import html_fragment, html_page

__all__ = ["html_fragment", "html_page"]
