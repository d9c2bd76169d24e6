"""openclaw: the sessions in the database of an OpenClaw agent, as pi's entries."""

from stenograph.formats.openclaw.spec import SPEC

__all__ = ["SPEC"]
