"""A run as one HTML page to hand to someone. No I/O."""

from stenograph.render.html.page import html_page

__all__ = ["html_page"]
