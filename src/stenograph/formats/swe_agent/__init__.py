"""swe_agent: trajectories of SWE-agent (`.traj`)."""

from stenograph.formats.swe_agent.spec import SPEC

__all__ = ["SPEC"]
