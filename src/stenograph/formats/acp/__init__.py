"""acp: the Agent Client Protocol, as any agent and its client speak it."""

from stenograph.formats.acp.spec import SPEC

__all__ = ["SPEC"]
