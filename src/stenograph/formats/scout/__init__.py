"""scout: databases of transcripts of Inspect Scout (Parquet), one run for each transcript."""

from stenograph.formats.scout.spec import SPEC

__all__ = ["SPEC"]
