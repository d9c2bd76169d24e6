"""hermes_agent: the sessions in Hermes Agent's database, row by row."""

from stenograph.formats.hermes_agent.spec import SPEC

__all__ = ["SPEC"]
