"""exchange: our own journal, and the exchange transcripts of AWF, which have the same envelope."""

from stenograph.formats.exchange.spec import SPEC

__all__ = ["SPEC"]
