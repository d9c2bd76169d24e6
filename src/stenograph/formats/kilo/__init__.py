"""kilo: the sessions in Kilo's database, which is OpenCode's at another place."""

from stenograph.formats.kilo.spec import SPEC

__all__ = ["SPEC"]
