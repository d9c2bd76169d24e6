"""cline: the sessions that Cline keeps since version 3, in its terminal program."""

from stenograph.formats.cline.spec import SPEC

__all__ = ["SPEC"]
