"""openhands_v0: trajectories of OpenHands before its rewrite, lists of actions and observations."""

from stenograph.formats.openhands_v0.spec import SPEC

__all__ = ["SPEC"]
