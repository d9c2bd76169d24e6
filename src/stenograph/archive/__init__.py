"""All runs of a machine: the agents' files kept byte for byte, and an index of their events."""

from stenograph.archive.index.schema import open_index
from stenograph.archive.reader import IndexReader
from stenograph.archive.store.home import Home, home_of

__all__ = ["Home", "IndexReader", "home_of", "open_index"]
