"""atif: the Agent Trajectory Interchange Format, which Harbor, Inspect Scout, Phoenix and NeMo write and read."""

from stenograph.formats.atif.spec import SPEC

__all__ = ["SPEC"]
