"""mini_swe_agent: trajectories of mini-swe-agent (`.traj.json`)."""

from stenograph.formats.mini_swe_agent.spec import SPEC

__all__ = ["SPEC"]
