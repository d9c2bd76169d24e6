"""pi: the session files of pi and its forks."""

from stenograph.formats.pi.spec import SPEC

__all__ = ["SPEC"]
