"""hermes: the sessions in Hermes Agent's database, row by row."""

from stenograph.formats.hermes.spec import SPEC

__all__ = ["SPEC"]
